// GET /admin/projections, POST /admin/projections/{name}/rebuild and /verify: the read models, and jobs that replay the log.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError } from '@paylog/domain/errors'
import { listProjections } from '@paylog/projections/listProjections'
import type { Projection } from '@paylog/projections/projection'
import { rebuildLock } from '@paylog/projections/rebuild/rebuild'
import { rebuildOne, rebuiltJson } from '@paylog/projections/rebuild/rebuildOne'
import { heldLocks, type ReplayOptions, replayConnections } from '@paylog/projections/rebuild/replay'
import { verifiedJson, verifyLock, verifyOne } from '@paylog/projections/rebuild/verify'
import { projections } from '@paylog/projections/registry'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { wholeList } from '@paylog/runtime/http/listFiles'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Pool } from 'pg'
import { Type } from 'typebox'
import type { JobRun, JobWork } from '../jobs/jobs.ts'
import { requestedJob } from '../jobs/jobs.ts'
import { jobResponse } from '../jobs/routes.ts'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { exampleProjection, ProjectionState, projectionState } from './projectionState.ts'

type ReplayDependencies = Pick<OperatorDependencies, 'databaseUrl' | 'pool' | 'store' | 'jobs' | 'log'>

const ProjectionParams = Type.Object({ name: Type.String({ description: 'The name of the projection' }) })

const descriptions = {
  rebuild: {
    operationId: 'rebuildProjection',
    summary: 'Rebuild a projection',
    description:
      'For administrators. Fills a new table from the log beside the live one, and switches to it; queries go on meanwhile. The result compares both tables. A canceled or interrupted rebuild changes nothing, and the next one continues it.',
  },
  verify: {
    operationId: 'verifyProjection',
    summary: 'Verify a projection',
    description:
      'For administrators. Replays the log into a separate table and compares it with the live one as of one moment. The result counts the rows that differ and has the first 100 of them.',
  },
} as const

const replayJob =
  (replay: (options: ReplayOptions) => Promise<object>) =>
  ({ databaseUrl, store, log }: ReplayDependencies, projection: Projection): JobWork =>
  async ({ signal, onProgress }) => {
    // Its own, because its statements may take long, and must not wait for requests.
    const sessions = { max: replayConnections, least: replayConnections }
    const pool = createPool({ databaseUrl, applicationName: 'operator-api job', ...sessions, log })
    try {
      const options = { databaseUrl, pool, store, log, projection, signal }
      return await replay({ ...options, onProgress: reportTo(onProgress) })
    } finally {
      await pool.end()
    }
  }

const reportTo =
  (onProgress: JobRun['onProgress']): ReplayOptions['onProgress'] =>
  ({ step, events, position, end }) =>
    onProgress({
      step,
      events,
      position: position?.commit.toString() ?? null,
      head: end?.commit.toString() ?? null,
    })

/** What each kind of job does. The result is what `ops projections … --json` prints for one projection. */
const replayJobs = {
  rebuild: replayJob(async (options) => rebuiltJson(await rebuildOne(options))),
  verify: replayJob(async (options) => verifiedJson(await verifyOne(options))),
}

const locks = { rebuild: rebuildLock, verify: verifyLock }
const doing = { rebuild: 'rebuilding', verify: 'verifying' }

/**
 * Checks whether the command line or a projector does the same, which is no job.
 * @throws DomainError `job_running`
 */
async function requireIdle(pool: Pool, kind: keyof typeof locks, projection: Projection): Promise<void> {
  const held = await heldLocks(pool, [locks[kind](projection)])
  if (held.size > 0)
    throw new DomainError(
      'job_running',
      `Another process is ${doing[kind]} ${projection.name}; try again when it has ended`,
    )
}

export function projectionRoutes(dependencies: ReplayDependencies): FastifyPluginAsyncTypebox {
  const { pool, store, jobs } = dependencies
  const list = async () => (await listProjections(pool, store)).map(projectionState)
  const file = wholeList({ name: 'projections', item: ProjectionState, example: exampleProjection }, list)
  return async (http) => {
    http.get(
      '/admin/projections',
      {
        config: { right: 'read', file },
        schema: {
          ...administratorSchema('system', 'listProjections', 'List the projections'),
          response: {
            200: dataResponse(Type.Array(ProjectionState), {
              description: 'All projections with their tables',
              examples: [[exampleProjection]],
            }),
          },
        },
      },
      async () => ({ success: true as const, data: await list() }),
    )
    for (const kind of ['rebuild', 'verify'] as const) {
      const { operationId, summary, description } = descriptions[kind]
      const schema = {
        ...administratorSchema('system', operationId, summary, 'not_found', 'job_running'),
        description,
        params: ProjectionParams,
        response: { 202: jobResponse('The job, which has started') },
      }
      const start = audited(schema, `${kind}_projection`, async ({ params: { name } }) => {
        await requireIdle(pool, kind, known(name))
        return { target: { kind: 'projection', id: name } }
      })
      http.post(
        `/admin/projections/:name/${kind}`,
        { config: { right: 'operate', audited: start }, schema },
        async (request, reply) => {
          const { name } = request.params
          const wanted = requestedJob(request, { kind, subject: name })
          const job = await jobs.start(wanted, replayJobs[kind](dependencies, known(name)))
          reply.code(202)
          return { success: true as const, data: job }
        },
      )
    }
  }
}

/** @throws DomainError `not_found` */
function known(name: string): Projection {
  const projection = projections.find((each) => each.name === name)
  if (projection === undefined) throw new DomainError('not_found', 'No projection with this name')
  return projection
}
