// The providers' webhook receivers: verify, store, apply, answer.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError } from '@paylog/domain/errors'
import { errorAnswers } from '@paylog/runtime/openApiParts'
import { rawBody } from '@paylog/runtime/rawBody'
import type { Workflow } from '@paylog/workflows/context'
import { enabledProvider } from '@paylog/workflows/providerCall'
import { receiveNotification } from '@paylog/workflows/receiveNotification'
import { Type } from 'typebox'

const receivers = ['stripe', 'paypal', 'authorize-net', 'sandbox'] as const

const Received = Type.Object({ received: Type.Literal(true) }, { description: 'The notification was taken in' })

export const receiverRoutes =
  (workflow: Workflow): FastifyPluginAsyncTypebox =>
  async (app) => {
    rawBody(app)
    for (const providerId of receivers) {
      app.post(
        `/webhooks/${providerId}`,
        {
          schema: {
            tags: ['provider webhooks'],
            summary: `Receive a notification of ${providerId}`,
            description:
              'Authenticated by the signature over the raw body. A notification that came before changes nothing.',
            response: { 200: Received, ...errorAnswers },
          },
        },
        async (request) => {
          const provider = enabledProvider(workflow, providerId)
          const { body, headers, id: requestId } = request
          if (!Buffer.isBuffer(body)) throw new DomainError('invalid_request', 'The body is empty')
          const { postponed } = await receiveNotification(workflow, { provider, body, headers, requestId })
          if (postponed) request.log.warn({ err: postponed }, 'a notification is stored, and the sweep will apply it')
          return { received: true as const }
        },
      )
    }
  }
