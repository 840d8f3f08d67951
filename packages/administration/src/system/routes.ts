// GET /admin/system: the processes and their readiness.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { exampleSystem, SystemState } from './system.ts'

export function systemRoutes({ system }: OperatorDependencies): FastifyPluginAsyncTypebox {
  return async (http) => {
    http.get(
      '/admin/system',
      {
        config: { right: 'read' },
        schema: {
          ...administratorSchema('system', 'getSystem', 'Get the version and the readiness of all processes'),
          response: {
            200: dataResponse(SystemState, {
              description: 'The processes, as of at most a second ago',
              examples: [exampleSystem],
            }),
          },
        },
      },
      async ({ log }) => ({ success: true as const, data: await system.read(log) }),
    )
  }
}
