// POST /admin/sync/products: bringing the catalogue to a provider (interface, section 4.8).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { SyncReport } from '@paylog/domain/products/syncRequest'
import { requestSync } from '@paylog/workflows/product-sync/requestSync'
import { syncTimeoutMs } from '@paylog/workflows/product-sync/syncLimits'
import type { FastifyRequest } from 'fastify'
import { setWriteHeaders } from '../answers.ts'
import { chosenProviderId } from '../chosenProvider.ts'
import { requestIdentity } from '../idempotency.ts'
import { createCardNumberCheck } from '../refuseCardNumbers.ts'
import { metadataOf, type CommandDependencies } from '../writing.ts'
import { rejectMisspeltOptions } from './misspeltOptions.ts'
import { syncSchema } from './routeSchema.ts'

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
