// GET /admin/projections, POST /admin/projections/{name}/rebuild and /verify: the read models, and jobs that replay the log.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { actorName } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { listProjections } from '@paylog/projections/listProjections'
import type { Projection } from '@paylog/projections/projection'
import { projections } from '@paylog/projections/registry'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { auditRequest } from '@paylog/workflows/auditTrail'
import { Type } from 'typebox'
import { jobResponse } from '../jobs/routes.ts'
import { administratorSchema, auditedSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { exampleProjection, ProjectionState, projectionState } from './projectionState.ts'
import { replayJobs, requireIdle } from './replayJobs.ts'

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
      'For administrators. Replays the log into a separate table and compares it with the live one as of one moment. The result counts the rows that differ and has the first 20 of them.',
  },
} as const

export function projectionRoutes(dependencies: OperatorDependencies): FastifyPluginAsyncTypebox {
  const { pool, store, jobs } = dependencies
  return async (http) => {
    http.get(
      '/admin/projections',
      {
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
      async () => ({ success: true as const, data: (await listProjections(pool, store)).map(projectionState) }),
    )
    for (const kind of ['rebuild', 'verify'] as const) {
      const { operationId, summary, description } = descriptions[kind]
      http.post(
        `/admin/projections/:name/${kind}`,
        {
          schema: {
            ...auditedSchema('system', operationId, summary, 'not_found', 'job_running'),
            description,
            params: ProjectionParams,
            response: { 202: jobResponse('The job, which has started') },
          },
        },
        async (request, reply) => {
          const { name } = request.params
          const projection = known(name)
          await requireIdle(pool, kind, projection)
          const wanted = { kind, subject: name, requestedBy: actorName(request.actor) }
          const target = { kind: 'projection', id: name }
          await auditRequest(dependencies, request, { action: `${kind}_projection`, target })
          const job = await jobs.start(wanted, replayJobs[kind](dependencies, projection))
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
