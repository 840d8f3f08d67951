// Runs jobs of the API in this process: the process of a job is the command.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from '@paylog/administration/jobs/job'
import { createJobs, type Jobs } from '@paylog/administration/jobs/jobs'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyPluginAsync } from 'fastify'
import type { Run } from './defineCommand.ts'
import { logProgress } from './progressLine.ts'
import type { Pool } from './system.ts'

const pollMs = 30

type JobRun = Pick<Run, 'api' | 'open' | 'signal' | 'progress'>

/**
 * Registers routes that start jobs.
 * @returns starts a job through its route, and waits until it has ended. An aborted signal cancels it. `title` has what its steps
 *   are called
 */
export async function jobApi(run: JobRun, pool: Pool, routes: (jobs: Jobs) => FastifyPluginAsync) {
  const jobs = createJobs({ pool, log: run.open.log })
  run.open.defer(() => jobs.stop(run.signal))
  const call = await run.api(routes(jobs))
  return async (path: string, body?: object, title = (step: string) => step): Promise<Job> => {
    const job = await startWhenFree(() => call<Job>('POST', path, body && { body }), jobs, run)
    return await untilEnded(job, jobs, { ...run, title })
  }
}

async function untilEnded(started: Job, jobs: Jobs, run: JobRun & { readonly title: (step: string) => string }) {
  const { signal, progress, title } = run
  let job = started
  const cancel = () => void jobs.cancel(job.id).catch(() => undefined)
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel)
  while (job.status === 'running') {
    if (job.progress !== null) progress.show(logProgress(title(job.progress.step), job.progress))
    await sleep(pollMs)
    job = (await jobs.get(job.id)) ?? job
  }
  progress.end()
  return job
}

/** The job of a killed process counts as running until it has been silent for a while. @throws DomainError `job_running` */
async function startWhenFree(start: () => Promise<Job>, jobs: Jobs, { signal, progress }: JobRun): Promise<Job> {
  const reported = new Map<string, string>()
  for (;;) {
    try {
      return await start()
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'job_running') || signal.aborted) throw error
      const running = (await jobs.list(20)).filter(({ status }) => status === 'running')
      // A process that lives reports every second.
      const isAlive = running.some(({ id, updated_at }) => (reported.get(id) ?? updated_at) !== updated_at)
      if (running.length === 0 || isAlive) throw error
      for (const { id, updated_at } of running) reported.set(id, updated_at)
      progress.show({ step: 'Waiting for the job of a process that may have ended' })
      await sleep(1_500)
    }
  }
}
