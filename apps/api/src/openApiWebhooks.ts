// The outgoing webhooks in the OpenAPI document: one for each canonical name, one for raw and one for legacy messages.
import { testFacts } from '@paylog/commands/webhook-tests/webhookTestFacts'
import { exampleId } from '@paylog/domain/examples'
import { canonicalBody } from '@paylog/webhooks/messages/canonical'
import { type CanonicalName, genericFor } from '@paylog/webhooks/messages/canonicalNames'
import { messageSchemas } from '@paylog/webhooks/messages/messageSchemas'
import { simulationMessages, testMessages } from '@paylog/webhooks/messages/testMessages'

const header = (name: string, isRequired: boolean, pattern: string, description: string) => ({
  name,
  in: 'header',
  required: isRequired,
  description,
  schema: { type: 'string', pattern },
})

const headers = [
  header('webhook-id', true, '.', 'The same at every attempt: a receiver ignores ids that it has seen'),
  header('webhook-timestamp', true, '^[0-9]+$', 'Time of the attempt, in seconds since 1970'),
  header(
    'webhook-sequence',
    true,
    '^[0-9]+$',
    'Grows with each event of a payment: a receiver ignores the status in a message with a lower one. Not signed',
  ),
  header('webhook-test', false, '^true$', 'Present when it is a test. Not signed; `test` in the body is'),
]

const signature = header(
  'webhook-signature',
  false,
  '^v1,',
  'Standard Webhooks signature, for endpoints with a secret; two of them while a secret is rotated',
)

type Message = { readonly title: string; readonly schema: object; readonly example: unknown }

const webhook = (
  { title, schema, example }: Message,
  summary: string,
  description: string,
  parameters: readonly object[],
) => ({
  post: {
    operationId: `receive${title}`,
    tags: ['webhooks'],
    summary,
    description,
    security: [],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: {
      200: { description: 'It was received. After any other status it is sent again, by the schedule of the endpoint' },
      410: { description: 'The endpoint is gone: it is paused until an operator enables it' },
    },
  },
})

const timestamp = '2026-01-31T12:00:00.000Z'
/** The object that a notification is about, by the first part of its generic name. */
const objects = new Map(Object.entries({ subscription: 'sub_1', invoice: 'in_1', customer: 'cus_1' }))
const money = { amount: 2599, currency: 'eur' }

/** Facts of a test, so that the code that makes the messages of tests says what the example of a name contains. */
function exampleFacts(event: CanonicalName) {
  const id = objects.get(genericFor(event).split('.')[0] ?? '') ?? exampleId
  const test_data = { id, customer: 'cus_1', ...(id !== 'cus_1' && money) }
  const { subscription, ...facts } = testFacts({ event, test_data, id: exampleId, at: new Date(timestamp) })
  return {
    ...{ ...facts, provider_id: 'stripe', subscription: subscription && { ...subscription, subscription_id: 'sub_1' } },
    webhook_test_id: '018f0000-0000-7000-8000-0000000000b1',
    requested_by: { id: '00000000-0000-4000-8000-000000000001', type: 'user', email: 'ada@example.com' },
    request_fingerprint: null,
    plan: { canonical_events: [], deliveries: [] },
  }
}

function exampleOf(name: CanonicalName): unknown {
  const messagesOf = name.startsWith('payment.') ? testMessages : simulationMessages
  const [example] = messagesOf(exampleFacts(name)).map((message) => ({ ...message, is_test: false }))
  return example && JSON.parse(canonicalBody(example, { projectId: 'default', projectIds: [] }))
}

const canonical = messageSchemas.canonical.map(({ name, ...canonical }) => {
  const description = 'For endpoints whose event mode is `canonical` or `both`.'
  const message = { ...canonical, example: exampleOf(name) }
  return [name, webhook(message, `Receive ${name}`, description, [...headers, signature])] as const
})

const rawExample = {
  event: 'stripe:invoice.payment_failed',
  provider: 'stripe',
  timestamp,
  data: { id: 'evt_1', type: 'invoice.payment_failed', data: { object: { id: 'in_1', amount_due: 2599 } } },
}

const legacyExample = {
  event: 'payment_intent.succeeded',
  provider: 'stripe',
  timestamp,
  data: {
    payment_id: exampleId,
    amount: 2599,
    currency: 'EUR',
    customer_email: 'guest@example.com',
    status: 'succeeded',
  },
}

/** `webhooks` of the document, by name. */
export const outgoingWebhooks: Readonly<Record<string, object>> = {
  ...Object.fromEntries(canonical),
  raw: webhook(
    { ...messageSchemas.raw, example: rawExample },
    "Receive a provider's notification",
    'For endpoints whose event mode is `raw` or `both`.',
    [...headers, signature],
  ),
  legacy: webhook(
    { ...messageSchemas.legacy, example: legacyExample },
    'Receive a notification by its generic name',
    'For `EXTERNAL_WEBHOOK_URLS`. Unsigned.',
    headers,
  ),
}
