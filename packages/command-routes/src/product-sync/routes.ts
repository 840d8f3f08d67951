// Unknown fields of a body are dropped, here as everywhere, but for those that can only be meant as one of the options: a
// dry run that is spelt in another way would be a real one.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError } from '@paylog/domain/errors'
import { RequiredText } from '@paylog/domain/fields'
import { SyncReport } from '@paylog/domain/products/syncRequest'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { syncTimeoutMs } from '@paylog/workflows/product-sync/syncProduct'
import { requestSync } from '@paylog/workflows/product-sync/syncProducts'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { IdempotencyHeaders, requestIdentity } from '../idempotency.ts'
import { chosenProviderId, createCardNumberCheck } from '../requestBody.ts'
import { type CommandDependencies, metadataOf } from '../requestContext.ts'
import { idempotencyErrors, responseHeaders, setWriteHeaders, writeErrors } from '../responses.ts'

const options = ['product_ids', 'provider_id', 'force', 'dryRun', 'updatePrices']
const normalized = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, '')
const optionByName = new Map(options.map((option) => [normalized(option), option]))

/** @throws DomainError `invalid_request` for a field such as `dry_run` */
function rejectMisspeltOptions(body: unknown): void {
  if (typeof body !== 'object' || body === null) return
  const fields = Object.keys(body).flatMap((field) => {
    const option = optionByName.get(normalized(field))
    return option === undefined || option === field
      ? []
      : [{ field: option, message: 'is spelt like this and in no other way' }]
  })
  const [first] = fields
  if (first) throw new DomainError('invalid_request', `${first.field} ${first.message}`, { fields })
}

// What the route of synchronising takes and answers, and what its documentation says.

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

const syncSchema = {
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

// POST /admin/sync/products: bringing the catalogue to a provider (interface, section 4.8).

const route = '/admin/sync/products'

/** With time for what is under way when no further product is begun. Should that not do, the work still goes on to its end. */
const handlerTimeout = syncTimeoutMs + 90_000

export const productSyncRoutes =
  ({ workflow, callers }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    app.post(
      route,
      {
        onRequest: callers.administrator,
        preValidation: async ({ body }: FastifyRequest) => rejectMisspeltOptions(body),
        schema: syncSchema,
        handlerTimeout,
      },
      async (request, reply) => {
        // The server gives a silent connection less time than the work may take. The next request has that again.
        reply.raw.setTimeout(handlerTimeout, () => reply.raw.destroy())
        const { actor, body } = request
        const { product_ids, force = false, dryRun = false, updatePrices = false } = body
        const identity = requestIdentity(request.headers['idempotency-key'], actor, `POST ${route}`, body)
        const { report, position, replayed } = await requestSync(workflow, {
          request_id: identity.id,
          request_fingerprint: identity.fingerprint,
          product_ids,
          providerId() {
            const provider_id = chosenProviderId(body, workflow.providers)
            rejectCardNumbers(request)
            return provider_id
          },
          force,
          dryRun,
          updatePrices,
          metadata: metadataOf(request),
        })
        // A dry run, and one that finds nothing to do, leave nothing to wait for.
        if (position) setWriteHeaders(reply, { position, replayed })
        if (!replayed) warnOfProvider(request, report)
        return { success: true as const, data: report }
      },
    )
  }

/** The answer is a success whatever the provider did, so that nobody who watches the log would notice. */
function warnOfProvider({ log }: FastifyRequest, { results }: SyncReport): void {
  const failures = results.flatMap(({ error }) => (error?.code.startsWith('provider_') ? [error] : []))
  const [first] = failures
  if (first)
    log.warn({ failures: failures.length, code: first.code }, `Products were not synchronised: ${first.message}`)
}
