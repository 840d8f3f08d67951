// POST /admin/products and PUT /admin/products/{id} (interface, section 2.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { exampleProduct } from '@paylog/domain/examples'
import { requireSameRequest } from '@paylog/domain/idempotentRequest'
import { NewProduct, newContent, ProductChanges, requireValidContent } from '@paylog/domain/products/content'
import {
  addProduct,
  changeProduct,
  existingProduct,
  ProductResource,
  type ProductState,
  productFold,
  productResource,
} from '@paylog/domain/products/product'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { productStream } from '@paylog/event-store/streamName'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { unchangeable } from '@paylog/runtime/http/unknownFields'
import { Type } from 'typebox'
import { IfMatchHeaders, requireMatch } from '../request/ifMatch.ts'
import { createCardNumberCheck } from '../request/requestBody.ts'
import { type CommandDependencies, metadataOf, repeatableRequest } from '../request/requestContext.ts'
import { IdempotencyHeaders } from '../request/requestIdentity.ts'
import { replyWith, responseHeaders, writeErrors } from '../request/responses.ts'

const subscription = {
  name: 'Sample plan',
  description: 'Everything, every month',
  product_type: 'subscription',
  is_recurring: true,
  subtotal_cents: 1000,
  tax_cents: 190,
  currency: 'EUR',
  billing_interval: 'month',
  trial_days: 14,
} as const

const productResponse = (description: string, headers: object) =>
  dataResponse(ProductResource, { description, headers, examples: [exampleProduct] })

const tags = ['products']
/** Its events name who changes the catalogue. */
const config = { right: 'operate', audited: null } as const

const createSchema = {
  tags,
  ...writeErrors(['amount_inconsistent', 'idempotency_key_reused']),
  operationId: 'createProduct',
  summary: 'Create a product',
  description:
    'For administrators. One of total_cents and subtotal_cents is required, and total = subtotal + tax - discount. billing_interval is required exactly when is_recurring. With an Idempotency-Key the request can be repeated safely.',
  headers: IdempotencyHeaders,
  body: Type.With(NewProduct, {
    examples: [
      subscription,
      { name: 'Sample mug', product_type: 'physical', currency: 'EUR', total_cents: 1490, category_id: 'kitchen' },
    ],
  }),
  response: { 201: productResponse('The product was created', responseHeaders.created) },
}

const changeSchema = {
  tags,
  ...writeErrors(['not_found', 'precondition_failed', 'amount_inconsistent']),
  operationId: 'updateProduct',
  summary: 'Update a product',
  description:
    'For administrators. Omitted fields stay as they are, null clears a field, and the result must satisfy the rules of creation. Tax and discount keep their values; a given subtotal or total determines the other, otherwise the subtotal is kept. With If-Match the product is changed only if the ETag still matches. To end is_recurring, set billing_interval and trial_days to null as well. The change reaches providers with the next sync; an inactive product is not synced, and its copy at a provider stays as it is.',
  params: Type.Object({ id: Type.String({ description: 'The id of the product' }) }),
  headers: IfMatchHeaders,
  body: Type.Object(
    { ...ProductChanges.properties, ...unchangeable(ProductChanges.properties, ProductResource) },
    {
      title: 'ProductChange',
      minProperties: 1,
      examples: [{ total_cents: 1290 }, { description: null, is_active: false }],
    },
  ),
  response: { 200: productResponse('The updated product', responseHeaders.changed) },
}

const resourceOf = ({ state }: LoadedState<ProductState>) => productResource(existingProduct(state))

export const productRoutes =
  ({ workflow }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { store, now } = workflow
    const rejectCardNumbers = createCardNumberCheck(app)

    app.post('/admin/products', { config, schema: createSchema }, async (request, reply) => {
      const { body } = request
      const { request_id, request_fingerprint, metadata } = repeatableRequest(workflow, request, 'POST /admin/products')
      const content = newContent(body)
      rejectCardNumbers(request)
      const stream = productStream(request_id)
      const product = {
        product_id: request_id,
        occurred_at: now().toISOString(),
        ...content,
        is_active: body.is_active ?? true,
        request_fingerprint,
      }
      const added = await store.handle({
        stream,
        fold: productFold,
        decide: (state) => addProduct(product, state),
        metadata,
        assumed: newStream(productFold),
      })
      const replayed = added.events.length === 0
      // A repeated request shows the product as the first one added it.
      const shown = replayed ? await store.load(stream, productFold, 'ProductAdded') : added
      requireSameRequest(existingProduct(shown.state), request_fingerprint)
      reply.code(201)
      return replyWith(reply, { ...shown, replayed }, resourceOf(shown))
    })

    app.put('/admin/products/:id', { config, schema: changeSchema }, async (request, reply) => {
      const { body: changes, headers, params } = request
      // Validation of the body comes before not_found.
      requireValidContent(changes)
      const changed = await store.handle({
        stream: productStream(params.id.toLowerCase()),
        fold: productFold,
        decide(state, revision) {
          existingProduct(state)
          requireMatch(headers['if-match'], revision)
          const events = changeProduct({ occurred_at: now().toISOString(), changes }, state)
          rejectCardNumbers(request)
          return events
        },
        metadata: metadataOf(request),
      })
      return replyWith(reply, changed, resourceOf(changed))
    })
  }
