// Gathers what the page of the admin address shows.

import { clock } from '../../base/time.ts'
import { messageOf } from '../../base/words.ts'
import type { HealthReport } from '../http/readiness.ts'
import { readSamples, sumOf } from './metric-samples.ts'
import type { OperatedTasks } from '../../request/pipeline/served-tasks.ts'
import type { ListedTask, StatusFacts } from './status-page.ts'

interface StatusSources {
  health (): Promise<HealthReport>
  readonly metrics: { text (): Promise<string> } | undefined
  readonly tasks: Pick<OperatedTasks, 'list'> | undefined
  /** Whether requests are traced. */
  readonly isTraced: boolean
}

interface Reader {
  /** Whether the reader may see tasks. */
  readonly mayList: boolean
  readonly refreshSeconds: number | undefined
}

/** How many tasks are looked at to find the stuck ones. */
const MAX_TASKS = 500

/** Never rejects: what cannot be read is a problem of the page. */
export async function readStatus (
  { health, metrics, tasks, isTraced }: StatusSources, { mayList, refreshSeconds }: Reader
): Promise<StatusFacts> {
  const problems: string[] = []
  const note = (subject: string) => (error: unknown) => {
    problems.push(`${subject} cannot be read: ${messageOf(error)}`)
  }
  const [report, text] = await Promise.all([
    health().catch(note('The health')), metrics?.text().catch(note('Metrics'))
  ])
  const samples = readSamples(text ?? '')
  const hasStuck = (sumOf(samples, 'trivet_tasks_stuck') ?? 0) > 0
  const stuckTasks = mayList && hasStuck && tasks !== undefined
    ? await findStuck(tasks).catch(note('Tasks')) ?? []
    : []
  return {
    readAtMs: clock.now(),
    report: report ?? { ready: false, parts: [] },
    samples,
    isMeasured: metrics !== undefined,
    problems,
    stuckTasks: mayList ? stuckTasks : undefined,
    isTraced,
    refreshSeconds
  }
}

/** A task that a replica cannot read has no status, so that no filter finds it. */
async function findStuck (tasks: Pick<OperatedTasks, 'list'>): Promise<ListedTask[]> {
  const page = await tasks.list({}, undefined, MAX_TASKS)
  return page.tasks.map((task): ListedTask => ({ ...task }))
    .filter(({ left, isOverdue }) => left !== undefined || isOverdue === true)
}
