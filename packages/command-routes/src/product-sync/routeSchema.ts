// What the route of synchronising takes and answers, and what its documentation says.
import { RequiredText } from '@paylog/domain/fields'
import { SyncReport } from '@paylog/domain/products/syncRequest'
import { dataResponse } from '@paylog/runtime/http/openApiParts'
import { Type } from 'typebox'
import { responseHeaders, idempotencyErrors, writeErrors } from '../answers.ts'
import { IdempotencyHeaders } from '../idempotency.ts'

/** So many products may be named. */
const maxProducts = 500

const [created, changed, unknown] = [1, 2, 3].map((n) => `018f0000-0000-7000-8000-00000000000${n}`)

const SyncBody = Type.Object(
  {
    product_ids: Type.Array(RequiredText, {
      minItems: 1,
      maxItems: maxProducts,
      description: 'One that is named more than once counts once',
    }),
    provider_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'May be left out when one provider is enabled' }),
    ),
    force: Type.Optional(Type.Boolean({ description: 'Also what has not changed' })),
    dryRun: Type.Optional(Type.Boolean({ description: 'Only says what would happen; the provider is not called' })),
    updatePrices: Type.Optional(
      Type.Boolean({ description: 'Another price takes the place of the one at the provider; else that one stays' }),
    ),
  },
  {
    examples: [
      { product_ids: [created, changed, unknown], provider_id: 'sandbox', updatePrices: true },
      { product_ids: [created], provider_id: 'sandbox', force: false, dryRun: true },
    ],
  },
)

const example = {
  success: true,
  data: {
    total: 3,
    successful: 2,
    failed: 1,
    results: [
      {
        product_id: created,
        status: 'created',
        provider_product_id: created,
        provider_price_id: 'price_1PQexample0001',
      },
      {
        product_id: changed,
        status: 'skipped',
        provider_product_id: changed,
        provider_price_id: 'price_1PQexample0002',
        price_differs: true,
      },
      {
        product_id: unknown,
        status: 'failed',
        provider_product_id: null,
        provider_price_id: null,
        error: { code: 'not_found', message: 'No product with this id' },
      },
    ],
    summary: { created: 1, updated: 0, skipped: 1, failed: 1 },
  },
}

const description = [
  'For administrators. Brings products to a provider: created there, updated, or skipped when nothing has changed since the last time. Each product fails by itself, and the answer is 200 all the same.',
  'A changed price is left alone and told of as price_differs, unless updatePrices is set.',
  'It can be repeated at any time, whatever became of an earlier request: nothing is there twice. With an Idempotency-Key the same request is answered with the same report.',
  'A long list may take minutes. The work goes on to its end if the client hangs up; a product that was not attempted, because the provider does not answer or the list takes too long, is failed with provider_unavailable and can be sent again.',
].join('\n\n')

export const syncSchema = {
  ...writeErrors([...idempotencyErrors, 'provider_not_enabled']),
  operationId: 'syncProducts',
  tags: ['products'],
  security: [{ session: [] }],
  summary: 'Synchronise products to a provider',
  description,
  headers: IdempotencyHeaders,
  body: SyncBody,
  response: {
    200: dataResponse(SyncReport, {
      description:
        'How it went with each product, in the order of the request. X-Event-Position is missing when nothing was recorded.',
      headers: responseHeaders.begun,
      examples: [example],
    }),
  },
}
