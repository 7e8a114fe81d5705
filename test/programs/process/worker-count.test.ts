import t from 'tap'
import { countCores, countWorkers } from '../../../src/programs/process/worker-count.ts'

const reading = (files: { readonly [path: string]: string }) => (path: string) => files[path] ?? ''

t.test('auto is one for each core with a shared state, and one without', async (t) => {
  const cores = () => 6
  t.strictSame(countWorkers({ workers: 3, stateUrl: 'redis://redis' }, cores), { count: 3 })
  for (const stateUrl of ['redis://redis', 'postgres://postgres/trivet']) {
    t.strictSame(countWorkers({ workers: 'auto', stateUrl }, cores), { count: 6 })
  }
  for (const stateUrl of ['memory:', 'file:./data']) {
    t.match(countWorkers({ workers: 'auto', stateUrl }, cores), { count: 1, reason: /^TRIVET_WORKERS is auto, / })
  }
})

t.test('counts the cores that the process may use, by every quota around it', async (t) => {
  const group = '/proc/self/cgroup'
  t.equal(countCores(8, reading({})), 8, 'no cgroups')
  t.equal(countCores(8, reading({ [group]: '0::/\n', '/sys/fs/cgroup/cpu.max': '250000 100000\n' })), 2)
  t.equal(countCores(8, reading({ [group]: '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' })), 8)
  t.equal(countCores(8, reading({ [group]: '0::/\n', '/sys/fs/cgroup/cpu.max': '50000 100000\n' })), 1)
  t.equal(countCores(2, reading({ '/sys/fs/cgroup/cpu.max': '400000 100000\n' })), 2)
  const nested = {
    [group]: '12:cpu:/other\n0::/system.slice/trivet.service\n',
    '/sys/fs/cgroup/system.slice/cpu.max': '300000 100000\n',
    '/sys/fs/cgroup/system.slice/trivet.service/cpu.max': '600000 100000\n'
  }
  t.equal(countCores(8, reading(nested)), 3)
  t.ok(countCores() >= 1)
})

t.test('counts by the quotas of cgroup v1', async (t) => {
  const group = '/proc/self/cgroup'
  const quota = (folder: string, us: number) => ({
    [`/sys/fs/cgroup/${folder}/cpu.cfs_quota_us`]: `${us}\n`,
    [`/sys/fs/cgroup/${folder}/cpu.cfs_period_us`]: '100000\n'
  })
  const both = '5:cpuset:/\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n0::/docker/abc\n'
  const inContainer = (us: number) => countCores(8, reading({ [group]: both, ...quota('cpu,cpuacct', us) }))
  t.equal(inContainer(300_000), 3, 'the root is the cgroup of the container')
  t.equal(inContainer(50_000), 1)
  t.equal(inContainer(-1), 8, 'no quota')
  t.equal(countCores(8, reading({
    [group]: both, ...quota('cpu,cpuacct/docker', 400_000), ...quota('cpu,cpuacct/docker/abc', 250_000)
  })), 2, 'each one around it')
  t.equal(countCores(8, reading({ [group]: '4:cpuacct,cpu:/\n', ...quota('cpuacct,cpu', 200_000) })), 2)
  t.equal(countCores(8, reading({ [group]: '4:cpuset:/a\n', ...quota('cpuset/a', 200_000) })), 8)
  t.equal(countCores(8, reading(quota('cpu', 200_000))), 2)
})
