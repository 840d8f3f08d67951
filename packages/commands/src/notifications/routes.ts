// POST /webhooks/{provider}: receives provider notifications (verify, store, apply, respond).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError } from '@paylog/domain/errors'
import type { ReceiverDocs } from '@paylog/providers/providerPlugin'
import { providerPlugins } from '@paylog/providers/registry'
import { rawBody } from '@paylog/runtime/http/body'
import { handleNotFound } from '@paylog/runtime/http/errors'
import { errorResponses, rawJsonBody } from '@paylog/runtime/http/openApiSchemas'
import { Type } from 'typebox'
import type { Workflow } from '../context.ts'
import { enabledProvider } from '../context.ts'
import type { ActivityRecorder } from '../provider-activity/activity.ts'
import { receiveNotification } from './notifications.ts'

const Received = Type.Object(
  { received: Type.Literal(true) },
  { description: 'The notification was stored', examples: [{ received: true }] },
)

function receiverSchema({ operationId, provider, signedBy, example }: ReceiverDocs) {
  // Optional in the schema: the signature check reports missing headers.
  const signature = Object.entries(signedBy).map(([name, description]) => [
    name,
    Type.Optional(Type.String({ description })),
  ])
  return {
    ...rawJsonBody('The notification, as the provider signed it', example),
    ...errorResponses([
      'invalid_signature',
      'body_too_large',
      'not_found',
      'provider_unavailable',
      'concurrent_modification',
      'event_store_unavailable',
    ]),
    operationId,
    tags: ['provider webhooks'],
    summary: `Receive a notification of ${provider}`,
    description:
      'Authenticated by the signature over the raw body. A repeated notification changes nothing. After a 5xx response the provider should send the notification again.',
    headers: Type.Object(Object.fromEntries(signature)),
    response: { 200: Received },
  }
}

/** @param activity gets what is accepted, and what is refused for its signature */
export const receiverRoutes =
  (workflow: Workflow, activity: Pick<ActivityRecorder, 'notified' | 'refusedSignature'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    rawBody(app)
    for (const [providerId, { receiver }] of Object.entries(providerPlugins)) {
      app.post(
        `/webhooks/${providerId}`,
        {
          config: { callers: 'providers' },
          schema: receiverSchema(receiver),
          onError: async (_request, _reply, error) => {
            if (error instanceof DomainError && error.code === 'invalid_signature')
              activity.refusedSignature(providerId)
          },
          // Hides which providers are enabled, and rejects unsigned requests before reading the body.
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
          const { provider_event_id, provider_type, postponed } = await receiveNotification(workflow, {
            provider,
            body,
            headers,
            requestId,
          })
          activity.notified(providerId, provider_type)
          const ids = { correlationId: requestId, provider_id: providerId, provider_event_id }
          if (postponed)
            request.log.warn(
              { err: postponed, ...ids },
              'notification stored but not applied; the reconciler will retry',
            )
          else request.log.debug(ids, 'notification applied')
          return { received: true as const }
        },
      )
    }
  }
