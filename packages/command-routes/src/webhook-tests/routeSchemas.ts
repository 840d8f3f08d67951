// What the routes that try endpoints out take and answer, and what their documentation says.
import { ClientObject } from '@paylog/domain/fields'
import { DispatchPlan } from '@paylog/domain/webhookTest'
import { genericNames } from '@paylog/providers/genericEvent'
import { simulators } from '@paylog/providers/simulation'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { canonicalNames } from '@paylog/webhooks/canonicalNames'
import { Type } from 'typebox'
import { IdempotencyHeaders } from '../idempotency.ts'
import { responseHeaders, writeErrors } from '../responses.ts'

/** Many times what a provider's own events have. */
export const maxBodyBytes = 32 * 1024

const EventName = (description: string) => Type.String({ minLength: 1, maxLength: 255, description })

const TestBody = Type.Object(
  {
    event: EventName('A canonical name, or a generic one of a provider event'),
    test_data: Type.Optional(
      ClientObject({
        description:
          'The object of the event, with any fields: id, amount (an integer in minor units), currency, status, customer. All of it is in `data` of the raw message. What is left out is made up: amount 1000, currency USD, ids that begin with test_. A field of another type counts as null.',
      }),
    ),
  },
  {
    examples: [
      { event: 'payment.succeeded', test_data: { amount: 2599, currency: 'EUR' } },
      { event: 'invoice.payment_failed' },
    ],
  },
)

const providerNames = [...simulators.keys()].join(', ')

const SimulateBody = Type.Object(
  {
    event: EventName(
      "A name of the provider's own, with or without <provider>: before it; a generic or a canonical one",
    ),
    provider: Type.String({ minLength: 1, maxLength: 255, description: `${providerNames}; enabled or not` }),
    payload: Type.Optional(
      ClientObject({
        description:
          'An event `{id, type, data: {object}}`, an event in the shape of the provider, the object of one, or some of its fields: id, amount (an integer in minor units), currency, status, customer. What is missing, or is of another type, is null in the message; an id is made up and begins with test_.',
      }),
    ),
  },
  {
    examples: [
      {
        event: 'payment_intent.succeeded',
        provider: 'stripe',
        payload: {
          id: 'pi_3PQexample0001',
          amount: 2599,
          currency: 'eur',
          status: 'succeeded',
          customer: 'cus_example1',
        },
      },
      {
        event: 'paypal:PAYMENT.CAPTURE.COMPLETED',
        provider: 'paypal',
        payload: { id: 'example-capture', status: 'COMPLETED', amount: { currency_code: 'EUR', value: '25.99' } },
      },
      {
        event: 'membership.cancelled',
        provider: 'authorize-net',
        payload: { id: 'example-subscription', amount: 11.55, status: 'canceled' },
      },
    ],
  },
)

const WebhookTestResource = Type.Object({
  id: Type.String({ description: 'Of the request; the log entries have ids of their own' }),
  ...DispatchPlan.properties,
})

const exampleResponse = (data: object) => ({
  success: true,
  data: { id: '018f0000-0000-7000-8000-000000000001', ...data },
})

const accepted = (examples: readonly object[]) => ({
  202: dataResponse(WebhookTestResource, {
    description:
      'It is on record and goes out at once. canonical_events are what the event means in canonical terms; deliveries are the configured nodes that will be told, by which name and in which mode. There are none when no node is configured or none wants the event.',
    headers: responseHeaders.begun,
    examples,
  }),
})

const path =
  'The messages take the path of all others: the same guard against private addresses, signatures, retries and log, where the session that asked sees them. Every request to an endpoint has the header `webhook-test: true`, JSON bodies have `"test": true` at the top level, and chat messages say that they are a test. Messages about real payments are sent first. With an Idempotency-Key the same request sends once and gets the same response.'

const limits =
  'The body must not contain the id of a recorded payment, ours or of its intent at a provider, whoever it belongs to: 422 `recorded_payment_id`, except for administrators. At most 32 KiB, and by default 10 requests a minute for a session, both routes together. With `WEBHOOK_TESTS_BY=admin` they are for administrators only.'

const genericList = `The generic names are ${genericNames.join(', ')}.`
const canonicalList = `The canonical names are ${canonicalNames.join(', ')}.`

export const testSchema = {
  ...writeErrors(['idempotency_key_reused', 'recorded_payment_id']),
  operationId: 'testWebhooks',
  tags: ['webhooks'],
  security: [{ session: [] }],
  summary: 'Send a test to the configured webhooks',
  description: [
    'For sessions. Sends an event that did not happen, of the provider sandbox and about the user of the session.',
    'A canonical name goes to canonical nodes alone. A generic name is treated as a notification by that name: raw nodes are told of it, canonical nodes of what it means, and the legacy list.',
    canonicalList,
    genericList,
    path,
    limits,
  ].join('\n\n'),
  headers: IdempotencyHeaders,
  body: TestBody,
  response: accepted([
    exampleResponse({
      canonical_events: ['payment.succeeded'],
      deliveries: [{ node: '1', event: 'payment.succeeded', mode: 'canonical' }],
    }),
  ]),
}

export const simulateSchema = {
  ...writeErrors(['idempotency_key_reused', 'provider_not_enabled', 'recorded_payment_id']),
  operationId: 'simulateWebhook',
  tags: ['webhooks'],
  security: [{ session: [] }],
  summary: 'Simulate a notification of a provider',
  description: [
    'For sessions. Has the configured webhooks told of a notification that the provider did not send. Nothing else comes of it: no payment and no payment method changes, even if the payload names one, and the provider is not called.',
    "The name is looked up in this order. 1. With <provider>: before it, it is the provider's own (stripe:customer.subscription.paused). 2. A generic name stands for the provider's own, and one that is both is that (subscription.deleted is BILLING.SUBSCRIPTION.CANCELLED of PayPal). 3. A canonical name is that one canonical event, for canonical nodes alone (membership.extended). 4. Anything else is the provider's own (charge.refunded); one that means nothing here goes to raw nodes alone.",
    "Amounts are read as the provider writes them (PayPal's decimal text, Authorize.Net's `authAmount` in major units), and else as integers in minor units. canonical_events tells what it was understood as; it is empty when the event has no canonical meaning. For a canonical name the payload is what the event is about: an intent or a charge for payment.*, an invoice for membership.extended, a subscription for the other memberships and for subscription.*, a customer for customer.*.",
    canonicalList,
    genericList,
    path,
    limits,
  ].join('\n\n'),
  headers: IdempotencyHeaders,
  body: SimulateBody,
  response: accepted([
    exampleResponse({
      canonical_events: ['payment.succeeded'],
      deliveries: [
        { node: '1', event: 'payment.succeeded', mode: 'canonical' },
        { node: '2', event: 'stripe:payment_intent.succeeded', mode: 'raw' },
        { node: 'legacy-1', event: 'payment_intent.succeeded', mode: 'legacy' },
      ],
    }),
    exampleResponse({ canonical_events: [], deliveries: [] }),
  ]),
}
