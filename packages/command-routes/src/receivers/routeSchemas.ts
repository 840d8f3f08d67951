// What the receivers of the providers' webhooks take and answer, as their documentation says it.
import type { ReceiverDocs } from '@paylog/providers/providerPlugin'
import { rawJsonBody, errorResponses } from '@paylog/runtime/http/openApiParts'
import { Type } from 'typebox'

const Received = Type.Object(
  { received: Type.Literal(true) },
  { description: 'The notification was taken in', examples: [{ received: true }] },
)

/** @param notes what is the provider's own about it */
export function receiverSchema({ operationId, provider, signedBy, example }: ReceiverDocs) {
  // Whether they are there is for the check of the signature to say.
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
      'Authenticated by the signature over the raw body. A notification that came before changes nothing. An error of 500 or more asks the provider to send it again.',
    headers: Type.Object(Object.fromEntries(signature)),
    response: { 200: Received },
  }
}
