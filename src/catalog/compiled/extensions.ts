// The extensions of the protocol that a catalog uses, as the service declares them.

import { APP_TYPE, APPS_CAPABILITY } from '../../protocol/apps.ts'
import type { CapabilitySettings } from '../../protocol/capabilities.ts'
import { hasMetaOnParts, hasSkills, hasTasks } from '../../protocol/revision-features.ts'
import { SKILLS_CAPABILITY } from '../../protocol/skills.ts'
import { TASKS_CAPABILITY } from '../../protocol/tasks.ts'
import type { Snapshot } from './snapshot.ts'

/** A member of the server's capabilities. Empty without an extension that the revision can have. */
export function toExtensions (
  snapshot: Snapshot, revision: string
): { readonly extensions?: { readonly [name: string]: CapabilitySettings } } {
  const uses = usesOf(snapshot)
  const extensions = {
    ...(uses.tasks && hasTasks(revision) && TASKS_CAPABILITY.extensions),
    ...(uses.skills && hasSkills(revision) && SKILLS_CAPABILITY.extensions),
    // A tool names its app in its `_meta`.
    ...(uses.apps && hasMetaOnParts(revision) && APPS_CAPABILITY.extensions)
  }
  return Object.keys(extensions).length === 0 ? {} : { extensions }
}

interface Uses { readonly tasks: boolean, readonly skills: boolean, readonly apps: boolean }

/** Found once: a catalog may have many resources, and each session begins with this. */
const found = new WeakMap<Snapshot, Uses>()

function usesOf (snapshot: Snapshot): Uses {
  const known = found.get(snapshot)
  if (known !== undefined) return known
  const { tools, resources, skills } = snapshot.primitives
  const uses = {
    tasks: tools.some(({ task }) => task !== undefined),
    skills: skills.length > 0,
    // From apps/, or defined by the author.
    apps: resources.some(({ mimeType }) => mimeType === APP_TYPE)
  }
  found.set(snapshot, uses)
  return uses
}
