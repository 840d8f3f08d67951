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
import { type WebhookTesting, webhookTestRoutes } from './webhook-tests/routes.ts'
import type { Writing } from './writing.ts'

export const commandApi =
  ({ nodes, testsBy, ...writing }: Writing & WebhookTesting): FastifyPluginAsync =>
  async (app) => {
    await app.register(paymentRoutes(writing))
    await app.register(paymentHistoryRoutes(writing))
    await app.register(setupIntentRoutes(writing))
    await app.register(paymentMethodRoutes(writing))
    await app.register(addressRoutes(writing))
    await app.register(productRoutes(writing))
    await app.register(productSyncRoutes(writing))
    await app.register(receiverRoutes(writing.workflow))
    await app.register(webhookTestRoutes(writing, { nodes, testsBy }))
  }
