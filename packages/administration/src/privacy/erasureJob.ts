// An erasure as a job. What it is about is in memory only: a row of a job must not hold an e-mail.
import type { EventMetadata } from '@paylog/domain/events'
import type { Subject } from '@paylog/privacy/dataKeys'
import type { JobRun, JobWork } from '../jobs/jobs.ts'
import type { OperatorDependencies } from '../routeSchemas.ts'
import { customersOf, type EraseStep, erasePerson, findPerson } from './erase.ts'
import type { ScanProgress } from './personTraces.ts'

export type ErasureDependencies = Pick<
  OperatorDependencies,
  'pool' | 'store' | 'keys' | 'openProviders' | 'jobs' | 'now'
>

type ErasureJob = {
  readonly erasureId: string
  readonly subject: Subject
  readonly metadata: EventMetadata
  readonly isDryRun: boolean
}

/** What `ops privacy erase` does; the result has the fields of its `--json`. */
export const erasureJob =
  (
    { pool, store, keys, openProviders, now }: Omit<ErasureDependencies, 'jobs'>,
    { erasureId, subject, metadata, isDryRun }: ErasureJob,
  ): JobWork =>
  async ({ signal, onProgress }) => {
    const head = (await store.head())?.commit.toString() ?? null
    const report = reportTo(onProgress, head)
    const providers = await openProviders()
    try {
      const erasing = { pool, store, keys, providers, now }
      const person = await findPerson(erasing, subject, { signal, onProgress: report })
      if (isDryRun) return { dry_run: true, ...person.findings }
      const request = { erasureId, metadata, signal, onProgress: report }
      return { dry_run: false, ...(await erasePerson(erasing, person, request)) }
    } finally {
      await Promise.all([...providers.values()].map((provider) => provider.close()))
    }
  }

const reportTo =
  (onProgress: JobRun['onProgress'], head: string | null) => (step: EraseStep, scan: ScanProgress | undefined) =>
    onProgress({ step, events: scan?.events ?? 0, position: scan?.position.commit.toString() ?? null, head })

/**
 * Whether there is something of a person whose keys are destroyed: the user's customers may still be there at the providers.
 * Of an e-mail nobody can tell, because no list of erased ones is kept; erasing it again finds what was recorded since.
 */
export async function isKnown(
  { pool, store }: Pick<OperatorDependencies, 'pool' | 'store'>,
  subject: Subject,
): Promise<boolean> {
  if ('email' in subject) return true
  // No list has them: an erasure that could not delete one is repeated for it alone.
  if ('user' in subject && (await customersOf(store, [subject.user])).length > 0) return true
  const { rowCount } =
    'user' in subject
      ? await pool.query(
          `select where exists (select from read_models.payments where owner = $1)
           or exists (select from read_models.payment_methods where user_id = $2)
           or exists (select from read_models.addresses where user_id = $2)`,
          [`user:${subject.user}`, subject.user],
        )
      : await pool.query('select from read_models.payments where id = $1', [subject.payment])
  return rowCount === 1
}
