// The providers' webhook receivers: verify, store, apply, answer.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError } from '@paylog/domain/errors'
import { providerPlugins } from '@paylog/providers/registry'
import { handleNotFound } from '@paylog/runtime/http/errors'
import { rawBody } from '@paylog/runtime/http/rawBody'
import type { Workflow } from '@paylog/workflows/context'
import { receiveNotification } from '@paylog/workflows/notifications/receiveNotification'
import { enabledProvider } from '@paylog/workflows/payments/providerCall'
import { receiverSchema } from './routeSchemas.ts'

export const receiverRoutes =
  (workflow: Workflow): FastifyPluginAsyncTypebox =>
  async (app) => {
    rawBody(app)
    for (const [providerId, { receiver }] of Object.entries(providerPlugins)) {
      app.post(
        `/webhooks/${providerId}`,
        {
          config: { isForProviders: true },
          schema: receiverSchema(receiver),
          // A stranger learns of no provider, and has nobody read a body for which there is no signature.
          onRequest: async (request, reply) => {
            const provider = workflow.providers.get(providerId)
            if (provider === undefined) return handleNotFound(request, reply)
            provider.checkNotificationHeaders({ headers: request.headers, now: workflow.now() })
          },
        },
        async (request) => {
          const provider = enabledProvider(workflow, providerId)
          const { body, headers, id: requestId } = request
          if (!Buffer.isBuffer(body)) throw new DomainError('invalid_request', 'The body is empty')
          const { inbox, postponed } = await receiveNotification(workflow, { provider, body, headers, requestId })
          const ids = { correlationId: requestId, causationId: inbox }
          if (postponed)
            request.log.warn({ err: postponed, ...ids }, 'a notification is stored, and the sweep will apply it')
          else request.log.debug(ids, 'a notification is applied')
          return { received: true as const }
        },
      )
    }
  }
