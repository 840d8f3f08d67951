// The operator API with a log of its own, projectors, and jobs to wait for.
import { startEventStore } from '@paylog/testing/eventStore'
import { startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import type { Job } from '../jobs/job.ts'
import { operatorHarness } from './operatorHarness.ts'

const projector = new URL('../../../../apps/projector/src/main.ts', import.meta.url)

export async function projectionsHarness(t: Test) {
  const eventStore = await startEventStore(t)
  const { connectionString, databaseUrl } = eventStore
  const api = await operatorHarness(t, { connectionString, databaseUrl })
  return {
    ...api,
    eventStore,
    startProjector: () =>
      startProcess(t, {
        script: projector,
        env: { DATABASE_URL: databaseUrl, EVENTSTORE_URL: connectionString, LOG_LEVEL: 'warn' },
      }),
    /** Waits until a job has ended. */
    ended: (id: string): Promise<Job> =>
      waitFor(
        async () => {
          const job = await api.jobs.get(id)
          return job !== undefined && job.status !== 'running' && job
        },
        { what: 'the end of the job' },
      ),
  }
}
