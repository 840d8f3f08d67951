// The OpenAPI document of both sides, and the page that shows it.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { securitySchemes } from '@paylog/runtime/http/openApiParts'
import { operationsTag } from '@paylog/runtime/http/operationsSchemas'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { Type } from 'typebox'
import { commonHeaders, completed } from './openApiDocument.ts'

/** The page loads nothing from elsewhere. The library's own policy would also force https, which a trial has not. */
const contentSecurityPolicy = {
  'default-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'style-src': ["'self'", "'unsafe-inline'"],
  'frame-ancestors': ["'none'"],
}

const apiDescription = [
  'Payments recorded as events. Bodies and answers are JSON.',
  'An answer about one thing is `{"success": true, "data": {…}}`, and a list has its page beside `data`. Two routes answer otherwise: `GET /webhooks/logs` is the bare array of entries, and a setup intent has its fields beside `success`.',
  'Every error is `{"success": false, "error": {"code", "message", "details", "request_id"}}`. Programs decide by `code`. A request whose headers are too large (431), which is not sent in time (408), or which is no HTTP is answered in the same form on its way in.',
  'A `POST` with an `Idempotency-Key` may be repeated until there is an answer; a change with `If-Match` is made only to what the client has seen; a read with `X-Read-After` shows the write whose `X-Event-Position` it is.',
  'Requests may be limited per credential, and payments without a credential per address: `RateLimit-*` tell what is left.',
].join('\n\n')

const apiTags = [
  { name: 'payments', description: 'Opening payments and following them' },
  { name: 'payment methods', description: 'Methods that owners keep to pay with again' },
  { name: 'addresses', description: 'Billing and shipping addresses of owners' },
  { name: 'products', description: 'The catalogue, and bringing it to providers; for administrators' },
  { name: 'webhooks', description: 'What is sent to the configured endpoints: its log, and trying them out' },
  { name: 'provider webhooks', description: 'Where providers tell what happened, signed by them' },
  { name: operationsTag, description: 'For whoever runs the service' },
]

/** Collects the routes that are registered after it. */
export async function collectRoutes(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Paylog', version: '0.1.0', description: apiDescription },
      servers: [{ url: '/', description: 'Where this document comes from' }],
      tags: apiTags,
      components: { securitySchemes, headers: commonHeaders },
    },
    transform: ({ schema, url }) => ({ schema: withOptionalDefaults(schema), url }),
    transformObject: (made) => ('openapiObject' in made ? completed(made.openapiObject) : made.swaggerObject),
  })
}

/** Collects the routes that are registered after it; answers /openapi.json and /docs. */
export async function openApi(app: FastifyInstance): Promise<void> {
  await collectRoutes(app)
  await showDocument(app)
}

/** Answers /openapi.json and /docs with a document that was made elsewhere. */
export const documentOf =
  (document: object) =>
  async (app: FastifyInstance): Promise<void> => {
    await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(JSON.stringify(document)) } })
    await showDocument(app)
  }

async function showDocument(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { url: '/openapi.json', deepLinking: true, defaultModelsExpandDepth: -1 },
    theme: { title: 'Paylog API', css: [{ filename: 'paylog.css', content: '.swagger-ui .topbar { display: none }' }] },
    staticCSP: contentSecurityPolicy,
  })
  // Anybody may ask for it, and what is written anew for each would take up memory until it is read.
  let text: Buffer | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= Buffer.from(JSON.stringify(app.swagger()))
    return reply.type('application/json; charset=utf-8').send(text)
  })
}

/** What has a default in the query may be left out, though a handler always finds it. */
function withOptionalDefaults(schema: FastifySchema | undefined): FastifySchema {
  const { querystring } = schema ?? {}
  if (!Type.IsObject(querystring)) return schema ?? {}
  const { required = [], properties } = querystring
  const asked = required.filter((name) => !('default' in (properties[name] ?? {})))
  return { ...schema, querystring: { ...querystring, required: asked } }
}
