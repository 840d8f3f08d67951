// The write side: everything that changes something, as one Fastify plugin.
import type { FastifyPluginAsync } from 'fastify'
import { addressRoutes } from './addresses/routes.ts'
import { paymentHistoryRoutes } from './payment-history/routes.ts'
import { paymentMethodRoutes } from './payment-methods/routes.ts'
import { paymentRoutes } from './payments/routes.ts'
import { productSyncRoutes } from './product-sync/routes.ts'
import { productRoutes } from './products/routes.ts'
import { receiverRoutes } from './receivers/routes.ts'
import { setupIntentRoutes } from './setup-intents/routes.ts'
import { type WebhookTestOptions, webhookTestRoutes } from './webhook-tests/routes.ts'
import type { CommandDependencies } from './writing.ts'

export const commandApi =
  ({ endpoints, testsBy, ...dependencies }: CommandDependencies & WebhookTestOptions): FastifyPluginAsync =>
  async (app) => {
    await app.register(paymentRoutes(dependencies))
    await app.register(paymentHistoryRoutes(dependencies))
    await app.register(setupIntentRoutes(dependencies))
    await app.register(paymentMethodRoutes(dependencies))
    await app.register(addressRoutes(dependencies))
    await app.register(productRoutes(dependencies))
    await app.register(productSyncRoutes(dependencies))
    await app.register(receiverRoutes(dependencies.workflow))
    await app.register(webhookTestRoutes(dependencies, { endpoints, testsBy }))
  }
