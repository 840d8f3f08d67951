// The OpenAPI document of both sides, and the page that shows it.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { securitySchemes } from '@paylog/runtime/openApiParts'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { Type } from 'typebox'

/** The page loads nothing from elsewhere. The library's own policy would also force https, which a trial has not. */
const contentSecurityPolicy = {
  'default-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'style-src': ["'self'", "'unsafe-inline'"],
  'frame-ancestors': ["'none'"],
}

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
      components: { securitySchemes },
    },
    transform: ({ schema, url }) => ({ schema: withOptionalDefaults(schema), url }),
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { url: '/openapi.json', deepLinking: true, defaultModelsExpandDepth: -1 },
    theme: { title: 'Paylog API', css: [{ filename: 'paylog.css', content: '.swagger-ui .topbar { display: none }' }] },
    staticCSP: contentSecurityPolicy,
  })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}

/** What has a default in the query may be left out, though a handler always finds it. */
function withOptionalDefaults(schema: FastifySchema | undefined): FastifySchema {
  const { querystring } = schema ?? {}
  if (!Type.IsObject(querystring)) return schema ?? {}
  const { required = [], properties } = querystring
  const asked = required.filter((name) => !('default' in (properties[name] ?? {})))
  return { ...schema, querystring: { ...querystring, required: asked } }
}
