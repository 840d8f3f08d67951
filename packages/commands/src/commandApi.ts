// The write API: all routes that change something, as one Fastify plugin.

import { asOneRequest } from '@paylog/event-store/connection/waiting'
import { createEventStore } from '@paylog/event-store/eventStore'
import { configuredIdentity } from '@paylog/identity/identity'
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { type Callers, createCallers } from '@paylog/runtime/http/callers'
import { guardRoutes } from '@paylog/runtime/http/guardRoutes'
import type { StartPage } from '@paylog/runtime/http/pages/startPage'
import { listenForTokenReads, type TokenRead } from '@paylog/runtime/postgres/tokenReads'
import type { Health } from '@paylog/runtime/process/health'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import type { FastifyPluginAsync } from 'fastify'
import { addressRoutes } from './addresses/routes.ts'
import { recordRequests } from './auditTrail.ts'
import type { CommandConfig } from './config.ts'
import { rememberedGuest, rememberReadingToken } from './guest-tokens/guestTokens.ts'
import { firstPaymentRoutes } from './hosted-pages/firstPayment.ts'
import { hostedPageRoutes } from './hosted-pages/routes.ts'
import { sandboxPageRoutes } from './hosted-pages/sandboxRoutes.ts'
import { receiverRoutes } from './notifications/routes.ts'
import { recordedEventsRoutes } from './payment-history/recordedEvents.ts'
import { paymentHistoryRoutes } from './payment-history/routes.ts'
import { paymentMethodRoutes } from './payment-methods/routes.ts'
import { setupIntentRoutes } from './payment-methods/setupIntentRoutes.ts'
import { paymentChangeRoutes } from './payments/changeRoutes.ts'
import { refundRoutes } from './payments/refundRoutes.ts'
import { type PaymentRouteOptions, paymentRoutes } from './payments/routes.ts'
import { productRoutes } from './products/routes.ts'
import { productSyncRoutes } from './products/syncRoutes.ts'
import { enabledProviders } from './provider-calls/enabledProviders.ts'
import { createWorkflowMetrics } from './provider-calls/telemetry.ts'
import type { CommandDependencies } from './request/requestContext.ts'
import { type WebhookTestOptions, webhookTestRoutes } from './webhook-tests/routes.ts'

export const commandApi =
  ({
    callers,
    endpoints,
    testsBy,
    payments,
    startPage,
    ...dependencies
  }: CommandDependencies &
    WebhookTestOptions &
    PaymentRouteOptions & { readonly callers: Callers; readonly startPage: StartPage }): FastifyPluginAsync =>
  async (app) => {
    guardRoutes(app, callers, recordRequests(dependencies.workflow))
    // After the body was read: its events have no context. A slow provider's time does not count.
    app.addHook('preValidation', (_request, _reply, done) => asOneRequest(done))
    await app.register(paymentRoutes({ ...dependencies, payments }))
    await app.register(paymentChangeRoutes(dependencies))
    await app.register(refundRoutes(dependencies))
    await app.register(paymentHistoryRoutes(dependencies))
    await app.register(recordedEventsRoutes(dependencies))
    await app.register(setupIntentRoutes(dependencies))
    await app.register(paymentMethodRoutes(dependencies))
    await app.register(addressRoutes(dependencies))
    await app.register(productRoutes(dependencies))
    await app.register(productSyncRoutes(dependencies))
    await app.register(receiverRoutes(dependencies.workflow))
    await app.register(hostedPageRoutes(dependencies.workflow))
    await app.register(sandboxPageRoutes(dependencies.workflow))
    await app.register(firstPaymentRoutes(dependencies.workflow, payments, startPage))
    await app.register(webhookTestRoutes(dependencies, { endpoints, testsBy }))
  }

/** Builds the write API from its configuration. The lifecycle closes its connections after the server. */
export async function wireCommandApi(
  config: CommandConfig,
  {
    keys,
    log,
    lifecycle,
    health,
    metrics,
  }: {
    readonly keys: PersonalDataKeys
    readonly log: Logger
    readonly lifecycle: Lifecycle
    readonly health: Health
    readonly metrics: Metrics
  },
): Promise<FastifyPluginAsync> {
  const observe = createWorkflowMetrics(metrics)
  const providers = await enabledProviders(config, observe.providerCall)
  for (const provider of providers.values()) lifecycle.add(`provider ${provider.id}`, () => provider.close())
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys, observe: observe.append, log })
  lifecycle.add('event store', () => store.close())
  health.check('event_store', async () => {
    const head = await store.head()
    return { head: head?.commit.toString() ?? null }
  })
  // Without the keys of personal data, nothing of a new payer can be recorded.
  health.check('postgres', async () => {
    await keys.check()
    return {}
  })
  // Providers and the identity backend have no readiness check: an outage there affects all replicas alike, and other
  // providers and callers still work.
  const identity = configuredIdentity(config)
  lifecycle.add('identity', () => identity.close())
  const now = () => new Date()
  const remembering = { store, maxAgeMs: config.GUEST_TOKEN_HISTORY_MAX_AGE, now }
  const emailOf = rememberedGuest(remembering)
  if (config.GUEST_TOKEN_HISTORY_FALLBACK && remembering.maxAgeMs > 0) {
    const { stopping: signal } = lifecycle
    const onRead = (read: TokenRead) => rememberReadingToken(remembering, read)
    const listening = listenForTokenReads({ databaseUrl: config.DATABASE_URL, onRead, signal, log })
    lifecycle.add('guest token reads', () => listening)
  }
  const actorOrRemembered = config.GUEST_TOKEN_HISTORY_FALLBACK ? identity.actorOrRemembered(emailOf) : identity.actorOf
  const callers = createCallers(identity.actorOf, actorOrRemembered)
  const { endpoints, WEBHOOK_TESTS_BY: testsBy } = config
  const payments = {
    expiresAfterMs: config.PAYMENT_EXPIRES_AFTER,
    returnUrlOrigins: config.RETURN_URL_ORIGINS.map((origin) => new URL(origin).origin),
  }
  const workflow = { store, providers, now }
  return commandApi({ workflow, callers, endpoints, testsBy, payments, startPage: config.START_PAGE })
}
