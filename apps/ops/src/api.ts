// Calls routes of the API in this process, as the operator: what a command does is what the route does.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from '@paylog/administration/jobs/job'
import type { Jobs } from '@paylog/administration/jobs/jobs'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyPluginAsync, HTTPMethods } from 'fastify'
import type { Audit } from './auditTrail.ts'
import { logProgress, type ProgressLine } from './progressLine.ts'
import type { System } from './system.ts'

export type Sent = { readonly body?: object; readonly headers?: Readonly<Record<string, string>> }

/**
 * Calls a route, such as `POST /payments/:id/refunds`.
 * @returns `data` of the response
 * @throws the error of the route, as it was thrown: DomainError, and errors of Postgres and of the log
 */
export type Call = <Data>(method: 'GET' | 'POST', path: string, sent?: Sent) => Promise<Data>

/** @param audit writes the entries of the audit trail, with the operator and the reason of the command */
export const createApi =
  (open: System, audit: Audit) =>
  async (...plugins: readonly FastifyPluginAsync[]): Promise<Call> => {
    const { createHttp } = await import('@paylog/runtime/http/http')
    const { createCallers } = await import('@paylog/runtime/http/callers')
    const { guardRoutes } = await import('@paylog/runtime/http/guardRoutes')
    const { metadataOf } = await import('@paylog/commands/request/requestContext')
    const http = createHttp({ log: open.log })
    open.defer(() => http.close())
    const callers = createCallers(async () => ({ kind: 'operator' }))
    guardRoutes(http, callers, (request, action) => audit(action, metadataOf(request)))
    const failures = new Map<string, unknown>()
    // The response has less than the error: a failed connection is an internal error there.
    http.addHook('onError', async ({ id }, _reply, error) => void failures.set(id, error))
    for (const plugin of plugins) await http.register(plugin)
    return async (method: HTTPMethods, url, { body, headers } = {}) => {
      const response = await http.inject({ method, url, headers: { ...headers }, ...(body && { payload: body }) })
      const failure = failures.get(String(response.headers['x-request-id']))
      if (failure !== undefined) throw failure
      return response.json().data
    }
  }

export type JobRun = {
  readonly jobs: Jobs
  readonly signal: AbortSignal
  readonly progress: ProgressLine
  /** What the steps of the job are called. */
  readonly title?: (step: string) => string
}

const pollMs = 30

/**
 * Starts a job through its route, and waits until it has ended. An aborted signal cancels it.
 * @param start calls the route
 */
export async function runJob(start: () => Promise<Job>, run: JobRun): Promise<Job> {
  const { jobs, signal, progress, title = (step) => step } = run
  let job = await startWhenFree(start, run)
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
async function startWhenFree(start: () => Promise<Job>, { jobs, signal, progress }: JobRun): Promise<Job> {
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
