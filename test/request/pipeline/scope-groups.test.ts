import t from 'tap'
import { toScopesKey } from '../../../src/catalog/compiled/scopes/access-rule.ts'
import { createScopeGroups } from '../../../src/request/pipeline/scope-groups.ts'
import { createCatalog } from '../../../src/catalog/compiled/catalog.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { loadSnapshot } from '../../helpers/load-catalog.ts'

t.test('callers with the same scopes share a group, and a scope with a space is one scope', async (t) => {
  const groups = createScopeGroups(createCatalog(await loadSnapshot(await writeCatalog(t, {}))))
  const groupOf = (...scopes: string[]) => groups.of({ scopes: new Set(scopes) })
  t.equal(groupOf('books:write', 'secret'), groupOf('secret', 'books:write'))
  t.not(groupOf('books:write secret'), groupOf('books:write', 'secret'))
  t.ok(groupOf('books:write', 'secret').holds(['secret']))
  t.notOk(groupOf('books:write secret').holds(['secret']))
  t.equal(groupOf(), groupOf())
})

t.test('the key of scopes tells all lists apart', async (t) => {
  const lists = [[], [''], ['a', 'b'], ['a b'], ['a,b'], ['a","b'], ['b', 'a'], ['[]']]
  t.equal(new Set(lists.map(toScopesKey)).size, lists.length)
})
