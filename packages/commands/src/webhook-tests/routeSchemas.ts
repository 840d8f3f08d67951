// Bodies, responses and OpenAPI descriptions of the webhook test routes.
import { exampleId } from '@paylog/domain/examples'
import { ClientObject } from '@paylog/domain/fields'
import { DispatchPlan } from '@paylog/domain/webhookTest'
import { genericNames } from '@paylog/providers/genericEvent'
import { simulators } from '@paylog/providers/simulation'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { canonicalNames } from '@paylog/webhooks/messages/canonicalNames'
import { Type } from 'typebox'
import { IdempotencyHeaders } from '../request/requestIdentity.ts'
import { responseHeaders, writeErrors } from '../request/responses.ts'

/** Far larger than real provider events. */
export const maxBodyBytes = 32 * 1024

const EventName = (description: string) => Type.String({ minLength: 1, maxLength: 255, description })

export const TestBody = Type.Object(
  {
    event: EventName('A canonical or generic event name'),
    test_data: Type.Optional(
      ClientObject({
        description:
          'The object of the event, with any fields: id, amount (an integer in minor units), currency, status, customer. All of it is in `data` of the raw message. Omitted fields get defaults: amount 1000, currency USD, ids that begin with test_. A field of another type counts as null.',
      }),
    ),
  },
  {
    title: 'NewWebhookTest',
    examples: [
      { event: 'payment.succeeded', test_data: { amount: 2599, currency: 'EUR' } },
      { event: 'invoice.payment_failed' },
    ],
  },
)

const providerNames = [...simulators.keys()].join(', ')

const SimulateBody = Type.Object(
  {
    event: EventName("A provider's own name, with or without the prefix <provider>:, or a generic or canonical name"),
    provider: Type.String({ minLength: 1, maxLength: 255, description: `${providerNames}; enabled or not` }),
    payload: Type.Optional(
      ClientObject({
        description:
          'An event `{id, type, data: {object}}`, an event in the format of the provider, its object, or some of its fields: id, amount (an integer in minor units), currency, status, customer. A field that is missing or of another type is null in the message; a missing id is generated and begins with test_.',
      }),
    ),
  },
  {
    title: 'WebhookSimulation',
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

const WebhookTestResource = Type.Object(
  {
    id: Type.String({ description: 'Id of the request; the log entries have their own ids' }),
    ...DispatchPlan.properties,
  },
  { title: 'WebhookTest' },
)

/** @param examples of the plan */
export const accepted = (...examples: readonly DispatchPlan[]) => ({
  202: dataResponse(WebhookTestResource, {
    description:
      'The test is recorded and sent at once. canonical_events are the canonical names of the event; deliveries list the configured endpoints (nodes) that will receive it, with event name and mode. The list is empty when no endpoint is configured or subscribed.',
    headers: responseHeaders.started,
    examples: examples.map((plan) => ({ id: exampleId, ...plan })),
  }),
})

const toCanonical = {
  canonical_events: ['payment.succeeded'],
  deliveries: [{ node: '1', event: 'payment.succeeded', mode: 'canonical' }],
}

/** What the descriptions of both routes end with. */
const shared = [
  `The canonical names are ${canonicalNames.join(', ')}.`,
  `The generic names are ${genericNames.join(', ')}.`,
  'The messages are sent like all others: with the same guard against private addresses, signatures, retries and log, where the requesting session sees them. Every request to an endpoint has the header `webhook-test: true`, JSON bodies have `"test": true` at the top level, and chat messages say that they are a test. Messages about real payments are sent first. With an Idempotency-Key the same request sends once and gets the same response.',
  'The body must not contain the id of any recorded payment, or of its intent at a provider: 422 `recorded_payment_id`, except with the right `operate`. At most 32 KiB, and by default 10 requests a minute for a session, both routes together. With `WEBHOOK_TESTS_BY=admin` they need that right.',
]

const common = { tags: ['webhooks'], headers: IdempotencyHeaders }

export const testSchema = {
  ...common,
  ...writeErrors(['idempotency_key_reused', 'recorded_payment_id']),
  operationId: 'testWebhooks',
  summary: 'Send a test to the configured webhooks',
  description: [
    "For sessions. Sends a made-up event of the sandbox provider about the session's user.",
    'A canonical name goes only to canonical endpoints. A generic name is treated like a notification with that name: it goes to raw endpoints and the legacy list, and its canonical events go to canonical endpoints.',
    ...shared,
  ].join('\n\n'),
  body: TestBody,
  response: accepted(toCanonical),
}

export const simulateSchema = {
  ...common,
  ...writeErrors(['idempotency_key_reused', 'provider_not_enabled', 'recorded_payment_id']),
  operationId: 'simulateWebhook',
  summary: 'Simulate a provider notification',
  description: [
    'For sessions. Sends the configured webhooks for a notification that the provider did not send. Nothing else happens: no payment or payment method changes, even if the payload names one, and the provider is not called.',
    "The name is looked up in this order. 1. With the prefix <provider>: it is the provider's own name (stripe:customer.subscription.paused). 2. A generic name stands for the provider's own name, even if it is canonical too (subscription.deleted is PayPal's BILLING.SUBSCRIPTION.CANCELLED). 3. A canonical name is that canonical event, and goes only to canonical endpoints (membership.extended). 4. Anything else is the provider's own name (charge.refunded); one without a canonical meaning goes only to raw endpoints.",
    "Amounts are read in the provider's format (PayPal's decimal strings, Authorize.Net's `authAmount` in major units), otherwise as integers in minor units. canonical_events is empty when the event has no canonical meaning. For a canonical name the payload is the object of the event: an intent or a charge for payment.*, an invoice for membership.extended, a subscription for the other memberships and for subscription.*, a customer for customer.*.",
    ...shared,
  ].join('\n\n'),
  body: SimulateBody,
  response: accepted(
    {
      ...toCanonical,
      deliveries: [
        ...toCanonical.deliveries,
        { node: '2', event: 'stripe:payment_intent.succeeded', mode: 'raw' },
        { node: 'legacy-1', event: 'payment_intent.succeeded', mode: 'legacy' },
      ],
    },
    { canonical_events: [], deliveries: [] },
  ),
}
