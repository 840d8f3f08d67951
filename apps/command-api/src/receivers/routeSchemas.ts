// What the receivers of the providers' webhooks take and answer, as their documentation says it.
import { rawJsonBody, refusals } from '@paylog/runtime/openApiParts'
import { Type } from 'typebox'

type Described = {
  readonly operationId: string
  /** In words. */
  readonly provider: string
  /** The headers that the signature is in. */
  readonly signedBy: Readonly<Record<string, string>>
  readonly example: object
}

const described = {
  stripe: {
    operationId: 'receiveStripeWebhook',
    provider: 'Stripe',
    signedBy: { 'stripe-signature': 'The time, and HMAC-SHA256 over the time and the body' },
    example: {
      id: 'evt_1PQexample0001',
      object: 'event',
      type: 'payment_intent.succeeded',
      created: 1769860800,
      data: {
        object: {
          id: 'pi_3PQexample0001',
          object: 'payment_intent',
          amount: 2599,
          currency: 'eur',
          status: 'succeeded',
          customer: null,
          metadata: {},
        },
      },
    },
  },
  paypal: {
    operationId: 'receivePaypalWebhook',
    provider: 'PayPal',
    signedBy: {
      'paypal-transmission-id': 'Of the transmission',
      'paypal-transmission-time': 'When it was sent',
      'paypal-transmission-sig': 'The signature, which PayPal itself is asked about',
      'paypal-cert-url': 'Where the certificate is',
      'paypal-auth-algo': 'How it was signed',
    },
    example: {
      id: 'WH-EXAMPLE0001',
      event_type: 'PAYMENT.CAPTURE.COMPLETED',
      create_time: '2026-01-31T12:00:00Z',
      resource_type: 'capture',
      resource: { id: 'EXAMPLECAPTURE001', status: 'COMPLETED', amount: { currency_code: 'EUR', value: '25.99' } },
    },
  },
  'authorize-net': {
    operationId: 'receiveAuthorizeNetWebhook',
    provider: 'Authorize.Net',
    signedBy: { 'x-anet-signature': 'HMAC-SHA512 over the body' },
    example: {
      notificationId: '018f0000-0000-7000-8000-000000000003',
      eventType: 'net.authorize.customer.created',
      eventDate: '2026-01-31T12:00:00.0000000Z',
      webhookId: '018f0000-0000-7000-8000-000000000004',
      payload: { entityName: 'customerProfile', id: '1000000001' },
    },
  },
  sandbox: {
    operationId: 'receiveSandboxWebhook',
    provider: 'the sandbox',
    signedBy: { 'sandbox-signature': '`t=<Unix time>,v1=<HMAC-SHA256 over the time, a dot and the body>`' },
    example: {
      id: 'evt_example0001',
      type: 'payment_intent.succeeded',
      provider: 'sandbox',
      created: 1769860800,
      data: { object: { id: 'pi_1', amount: 2599, currency: 'eur', status: 'succeeded', customer: null } },
    },
  },
} as const satisfies Readonly<Record<string, Described>>

export type Receiver = keyof typeof described
export const receivers = ['stripe', 'paypal', 'authorize-net', 'sandbox'] as const satisfies readonly Receiver[]

const Received = Type.Object(
  { received: Type.Literal(true) },
  { description: 'The notification was taken in', examples: [{ received: true }] },
)

export function receiverSchema(receiver: Receiver) {
  const { operationId, provider, signedBy, example } = described[receiver]
  // Whether they are there is for the check of the signature to say.
  const signature = Object.entries(signedBy).map(([name, description]) => [
    name,
    Type.Optional(Type.String({ description })),
  ])
  return {
    ...rawJsonBody('The notification, as the provider signed it', example),
    ...refusals([
      'invalid_signature',
      'body_too_large',
      'provider_not_enabled',
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
