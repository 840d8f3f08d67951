// GET /admin/system: the processes and their readiness, and the state of the log.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Nullable } from '@paylog/domain/fields'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { exampleLogState, LogState, readLogState } from './logState.ts'
import { exampleSystem, SystemState } from './system.ts'

const System = Type.Object({ ...SystemState.properties, log: Nullable(LogState) }, { title: 'System' })

export function systemRoutes({ system, pool, now }: OperatorDependencies): FastifyPluginAsyncTypebox {
  return async (http) => {
    http.get(
      '/admin/system',
      {
        config: { right: 'read' },
        schema: {
          ...administratorSchema('system', 'getSystem', 'Get the version and the readiness of all processes'),
          response: {
            200: dataResponse(System, {
              description: 'The processes, as of at most a second ago, and how far the log proves itself',
              examples: [{ ...exampleSystem, log: exampleLogState }],
            }),
          },
        },
      },
      async ({ log }) => {
        const [state, proof] = await Promise.all([system.read(log), readLogState(pool, now)])
        return { success: true as const, data: { ...state, log: proof } }
      },
    )
  }
}
