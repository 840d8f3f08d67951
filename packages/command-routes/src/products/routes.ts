// POST /admin/products and PUT /admin/products/{id}: the catalogue, which administrators keep (interface, section 2.4).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { newContent, requireValidContent } from '@paylog/domain/products/content'
import type { Revision } from '@paylog/event-store/append/appending'
import { requestIdentity } from '../idempotency.ts'
import { requireMatch } from '../ifMatch.ts'
import { createCardNumberCheck } from '../refuseCardNumbers.ts'
import { metadataOf, type CommandDependencies } from '../writing.ts'
import { createProduct } from './createProduct.ts'
import { replyWithProduct, changeSchema, createSchema } from './routeSchemas.ts'
import { updateProduct } from './updateProduct.ts'

export const productRoutes =
  ({ workflow, callers }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)

    app.post('/admin/products', { onRequest: callers.administrator, schema: createSchema }, async (request, reply) => {
      const { actor, body } = request
      const identity = requestIdentity(request.headers['idempotency-key'], actor, 'POST /admin/products', body)
      const content = newContent(body)
      rejectCardNumbers(request)
      const created = await createProduct(workflow, {
        product: {
          product_id: identity.id,
          occurred_at: workflow.now().toISOString(),
          ...content,
          is_active: body.is_active ?? true,
          request_fingerprint: identity.fingerprint,
        },
        metadata: metadataOf(request),
      })
      reply.code(201)
      return replyWithProduct(reply, created)
    })

    app.put(
      '/admin/products/:id',
      { onRequest: callers.administrator, schema: changeSchema },
      async (request, reply) => {
        const { body: changes, headers, params } = request
        // Before anything is said about the product: whether there is one, or what is wrong with it then.
        requireValidContent(changes)
        const changed = await updateProduct(workflow, {
          product_id: params.id.toLowerCase(),
          changes,
          permit: (revision: Revision) => requireMatch(headers['if-match'], revision),
          refuse: () => rejectCardNumbers(request),
          metadata: metadataOf(request),
        })
        return replyWithProduct(reply, changed)
      },
    )
  }
