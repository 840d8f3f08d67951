// The sandbox's plugin. Its notifications have the generic shape of interface section 6.1.
import { bool, commaList, origin, url } from '@paylog/runtime/config/kinds'
import { Type } from 'typebox'
import { genericName, genericNames, genericSubscription } from '../genericEvent.ts'
import { definePlugin, type NotificationFormat, testIdOf } from '../providerPlugin.ts'
import { codeIn } from '../simulatedFacts.ts'

/** `factsOfObject` reads the generic fields for every provider, so the sandbox reads nothing itself. */
const emptyNotification = {
  object_id: null,
  amount_cents: null,
  currency: null,
  status: null,
  customer_id: null,
  customer_email: null,
  referenced_payment_id: null,
  report: null,
}

const sandboxNotificationFormat: NotificationFormat = {
  nativeTypes: new Map(genericNames.map((name) => [name, name])),
  minimalObject: ({ id }) => ({ id: testIdOf(id) }),
  envelope: ({ id, type, at, object, siblings }) => ({
    id: `evt_${testIdOf(id)}`,
    type,
    provider: 'sandbox',
    data: { ...siblings, object },
    created: Math.floor(at.getTime() / 1000),
  }),
  keys: { type: 'type', time: 'created', object: 'data' },
  read: ({ type, at, object }) => ({
    ...emptyNotification,
    provider_event_id: type,
    provider_type: type,
    generic_type: genericName(type),
    occurred_at: new Date(Math.floor(at.getTime() / 1000) * 1000).toISOString(),
    subscription: genericSubscription(type, codeIn(object.id)),
  }),
}

/** Where the API serves the page on which payers decide. */
export const sandboxPagePath = '/pages/sandbox'

export const sandbox = definePlugin({
  variables: {
    SANDBOX_PROVIDER: bool(false),
    SANDBOX_WEBHOOK_SECRET: Type.Optional(commaList()),
    /** Where all processes remember the sandbox's intents. Without it the sandbox cannot be queried. */
    SANDBOX_DATABASE_URL: Type.Optional(url(['postgres', 'postgresql'])),
    /** The API's public address, for the page where payers decide. */
    SANDBOX_PAGE_URL: Type.Optional(origin()),
  },
  problems(settings) {
    const { SANDBOX_PROVIDER: isEnabled, SANDBOX_WEBHOOK_SECRET: webhookSecrets = [] } = settings
    const { SANDBOX_DATABASE_URL: databaseUrl, SANDBOX_PAGE_URL: page } = settings
    if (!isEnabled) return []
    return [
      ...(webhookSecrets.length === 0 ? ['SANDBOX_WEBHOOK_SECRET is required when SANDBOX_PROVIDER is true'] : []),
      ...(page !== undefined && databaseUrl === undefined
        ? ['SANDBOX_DATABASE_URL is required when SANDBOX_PAGE_URL is set']
        : []),
    ]
  },
  isLive: () => false,
  async create(settings, timeoutMs) {
    const { SANDBOX_PROVIDER: isEnabled, SANDBOX_WEBHOOK_SECRET: webhookSecrets } = settings
    if (!isEnabled || !webhookSecrets) return undefined
    const { createSandbox } = await import('./sandbox.ts')
    const { SANDBOX_DATABASE_URL: databaseUrl, SANDBOX_PAGE_URL: page } = settings
    if (databaseUrl === undefined) return createSandbox({ webhookSecrets })
    const { createPostgresMemory } = await import('./postgresMemory.ts')
    const { createSandboxPage } = await import('./page.ts')
    const memory = createPostgresMemory({ databaseUrl, timeoutMs })
    return createSandbox({
      webhookSecrets,
      memory,
      page:
        page === undefined
          ? undefined
          : createSandboxPage({ url: `${page}${sandboxPagePath}`, webhookSecrets, memory }),
    })
  },
  receiver: {
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
  format: sandboxNotificationFormat,
})
