// The OpenAPI document of both sides, and the page that shows it.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** Collects the routes that are registered after it; answers /openapi.json and /docs. */
export async function openApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Paylog',
        version: '0.1.0',
        description: 'Payments recorded as events. Successful answers carry `success: true`, errors `success: false`.',
      },
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'header', name: 'X-Session-ID', description: 'Or `Authorization: Bearer …`' },
          guest: { type: 'apiKey', in: 'header', name: 'X-Guest-Token', description: 'Or `Authorization: Token …`' },
        },
      },
    },
  })
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
