// POST /admin/sync/products syncs products to a provider (interface, section 4.8).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ownerOf } from '@paylog/domain/actor'
import { RequiredText } from '@paylog/domain/fields'
import { SyncReport } from '@paylog/domain/products/syncReport'
import { knownActor } from '@paylog/runtime/http/callers'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { enabledProvider } from '../context.ts'
import { earlierRequest } from '../request/idempotentRequests.ts'
import { chosenProviderId, createCardNumberCheck } from '../request/requestBody.ts'
import { type CommandDependencies, repeatableRequest } from '../request/requestContext.ts'
import { IdempotencyHeaders } from '../request/requestIdentity.ts'
import { idempotencyErrors, responseHeaders, setWriteHeaders, writeErrors } from '../request/responses.ts'
import { syncTimeoutMs } from './syncProduct.ts'
import { replayedSync, requestSync, syncInFlightMs } from './syncProducts.ts'

const maxProducts = 500

const [created, changed, unknown] = [1, 2, 3].map((n) => `018f0000-0000-7000-8000-00000000000${n}`)

const SyncBody = Type.Object(
  {
    product_ids: Type.Array(RequiredText, {
      minItems: 1,
      maxItems: maxProducts,
      description: 'A repeated id is synced once',
    }),
    provider_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Optional when only one provider is enabled' }),
    ),
    force: Type.Optional(Type.Boolean({ description: 'Sync unchanged products too' })),
    dryRun: Type.Optional(Type.Boolean({ description: 'Only report what would happen; the provider is not called' })),
    updatePrices: Type.Optional(
      Type.Boolean({ description: 'Replace the price at the provider if it differs; otherwise it is kept' }),
    ),
  },
  {
    title: 'ProductSync',
    examples: [
      { product_ids: [created, changed, unknown], provider_id: 'sandbox', updatePrices: true },
      { product_ids: [created], provider_id: 'sandbox', force: false, dryRun: true },
    ],
  },
)

const example = {
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
}

const description = [
  'For administrators. Syncs products to a provider: each is created, updated, or skipped if unchanged since the last sync. Products fail individually, and the response is 200 all the same.',
  'A changed price is kept and reported as price_differs, unless updatePrices is set.',
  'A product that another request is syncing to the same provider fails with sync_in_progress, and can be sent again.',
  'The request can be repeated at any time and creates no duplicates. With an Idempotency-Key the same request returns the same report.',
  'A long list may take minutes, and continues if the client disconnects. A product that was not attempted, because the provider does not respond or the list takes too long, fails with provider_unavailable and can be sent again.',
].join('\n\n')

const syncSchema = {
  ...writeErrors([...idempotencyErrors, 'provider_not_enabled']),
  operationId: 'syncProducts',
  tags: ['products'],
  summary: 'Sync products to a provider',
  description,
  headers: IdempotencyHeaders,
  body: SyncBody,
  response: {
    200: dataResponse(SyncReport, {
      description:
        'The result for each product, in the order of the request. X-Event-Position is absent when nothing was recorded.',
      headers: responseHeaders.started,
      examples: [example],
    }),
  },
}

const route = '/admin/sync/products'

/** Leaves time for running products after the sync timeout. The work continues even if this passes. */
const handlerTimeoutMs = syncTimeoutMs + 90_000

export const productSyncRoutes =
  ({ workflow }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const sync = audited(syncSchema, 'sync_products', (request) => {
      const { product_ids, provider_id = null, force = false, dryRun = false, updatePrices = false } = request.body
      const details = { products: product_ids.length, provider_id, force, updatePrices }
      const keyed = repeatableRequest(workflow, request, `POST ${route}`)
      return dryRun ? undefined : { target: null, details, keyed }
    })
    app.post(
      route,
      {
        config: { right: 'operate', audited: sync, handlerTimeoutMs },
        schema: syncSchema,
      },
      async (request, reply) => {
        // The server's default for a silent connection is shorter than a sync. The next request gets the default again.
        reply.raw.setTimeout(handlerTimeoutMs, () => reply.raw.destroy())
        const { actor, body } = request
        const { product_ids, force = false, dryRun = false, updatePrices = false } = body
        const identity = repeatableRequest(workflow, request, `POST ${route}`)
        const owned = { ...identity, owner: ownerOf(knownActor(actor)), inFlightMs: syncInFlightMs(product_ids.length) }
        const earlier = await earlierRequest(workflow, owned)
        let synced = earlier.recorded && replayedSync(earlier.recorded)
        if (!synced) {
          const provider_id = chosenProviderId(body, workflow.providers)
          rejectCardNumbers(request)
          const provider = enabledProvider(workflow, provider_id)
          synced = await requestSync(
            workflow,
            { ...owned, provider, product_ids, force, dryRun, updatePrices },
            earlier,
          )
        }
        const { report, position, replayed } = synced
        // Without recorded events there is no position.
        if (position) setWriteHeaders(reply, { position, replayed })
        if (!replayed) logProviderFailures(request, report)
        return { success: true as const, data: report }
      },
    )
  }

/** Logs provider failures, because the response is 200 all the same. */
function logProviderFailures({ log }: FastifyRequest, { results }: SyncReport): void {
  const failures = results.flatMap(({ error }) => (error?.code.startsWith('provider_') ? [error] : []))
  const [first] = failures
  if (first) log.warn({ failures: failures.length, code: first.code }, `product sync failed: ${first.message}`)
}
