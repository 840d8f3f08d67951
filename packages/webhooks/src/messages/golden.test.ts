// Maps every golden sample to webhooks for endpoints of every mode and format.
import { goldenSamples } from '@paylog/testing/goldenSamples'
import t from 'tap'
import { eventModes } from '../endpoints/endpointVariables.ts'
import { endpointSettings, endpointsFrom, recorded } from '../testing/eventFixtures.ts'
import { chatServices } from './chat/chatServices.ts'
import { outboundMessages } from './outbound.ts'

const chatEndpoints = chatServices.map((format) => ['both', format] as const)
const endpoints = endpointsFrom(
  ...[...eventModes.map((mode) => [mode, 'json'] as const), ...chatEndpoints].map(([mode, format], place) =>
    endpointSettings(place + 1, mode, { FORMAT: format, URL: `https://example.com/${place}?chat_id=1` }),
  ),
  { EXTERNAL_WEBHOOK_URLS: 'https://example.com/list' },
)

/** The event types that lead to webhooks; all others are internal. */
const deliveredTypes: readonly string[] = [
  'PaymentAmountMismatch',
  'PaymentAttemptFailed',
  'PaymentCanceled',
  'PaymentConflictDetected',
  'PaymentDisputeRecorded',
  'PaymentSucceeded',
  'ProviderCallFailed',
  'ProviderEventApplied',
  'ProviderEventAppliedToMethod',
  'ProviderEventIgnored',
  'ProviderEventReceived',
  'ProviderEventUnmatched',
  'ProviderIntentCreated',
  'ProviderNotificationReceived',
  'RefundRecorded',
  'WebhookSimulationRequested',
  'WebhookTestRequested',
]

t.test(
  'only golden samples of public event types, none of methods or addresses, lead to webhooks [6.2-all-events 6.2-methods-raw]',
  async (t) => {
    const delivered = new Set<string>()
    for (const { name, event, metadata } of goldenSamples()) {
      const messages = outboundMessages({ ...recorded(event), metadata }, endpoints, {
        projectId: 'shop',
        projectIds: [],
      })
      for (const { body } of messages) t.type(JSON.parse(body), 'object', name)
      if (messages.length > 0) delivered.add(event.type)
    }
    t.same([...delivered].toSorted(), deliveredTypes)
  },
)
