// GET /admin/jobs, GET /admin/jobs/{id}, POST /admin/jobs/{id}/cancel: long work that administrators started.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { actorName } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import { requireRight } from '@paylog/runtime/http/callers'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { wholeList } from '@paylog/runtime/http/listFiles'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { exampleJob, Job } from './job.ts'

const JobParams = Type.Object({ id: Type.String({ description: 'The id of the job' }) })

/** The response with one job. */
export const jobResponse = (description: string) => dataResponse(Job, { description, examples: [exampleJob] })

const cancelSchema = {
  ...administratorSchema('system', 'cancelJob', 'Cancel a job', 'not_found'),
  description:
    'For administrators. A running job ends within seconds, and leaves nothing half done. A job that has ended stays as it is. With the right privacy only erasures and their checks can be canceled.',
  params: JobParams,
  response: { 200: jobResponse('The job, which may still be running') },
}

export function jobRoutes({ jobs }: Pick<OperatorDependencies, 'jobs'>): FastifyPluginAsyncTypebox {
  const about = { name: 'jobs', item: Job, example: exampleJob }
  const file = wholeList(about, () => jobs.list(Number.MAX_SAFE_INTEGER))
  return async (http) => {
    http.get(
      '/admin/jobs',
      {
        config: { right: 'read', file },
        schema: {
          ...administratorSchema('system', 'listJobs', 'List jobs'),
          querystring: Type.Object({
            limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'The number of jobs' }),
          }),
          response: {
            200: dataResponse(Type.Array(Job), {
              description: 'The newest jobs, the last one first. At least 500 are kept',
              examples: [[exampleJob]],
            }),
          },
        },
      },
      async ({ query: { limit } }) => ({ success: true as const, data: await jobs.list(limit) }),
    )
    http.get(
      '/admin/jobs/:id',
      {
        config: { right: 'read' },
        schema: {
          ...administratorSchema('system', 'getJob', 'Get a job', 'not_found'),
          params: JobParams,
          response: { 200: jobResponse('The job') },
        },
      },
      async ({ params: { id } }) => ({ success: true as const, data: await found(id, jobs.get) }),
    )
    const cancel = audited(cancelSchema, 'cancel_job', async ({ params, actor }) => {
      const { id, kind, subject } = await found(params.id, jobs.get)
      if (kind !== 'erase') requireRight(actor, 'operate')
      return { target: { kind: 'job', id }, details: { kind, subject } }
    })
    http.post(
      '/admin/jobs/:id/cancel',
      { config: { right: ['operate', 'privacy'], audited: cancel }, schema: cancelSchema },
      async ({ params, actor, log }) => {
        const job = await found(params.id, jobs.cancel)
        log.info(
          { job: job.id, status: job.status, requestedBy: actorName(actor) },
          'the cancellation of a job was requested',
        )
        return { success: true as const, data: job }
      },
    )
  }
}

/** @throws DomainError `not_found`, also for an invalid id */
async function found(id: string, find: (id: string) => Promise<Job | undefined>): Promise<Job> {
  const recorded = recordedId(id)
  const job = recorded === null ? undefined : await find(recorded)
  if (job === undefined) throw new DomainError('not_found', 'No job with this id')
  return job
}
