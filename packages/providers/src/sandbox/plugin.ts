// What there is to know of the sandbox before it is enabled, which has to be asked for.
import { bool, commaList } from '@paylog/config/kinds'
import { Type } from 'typebox'
import { definePlugin } from '../providerPlugin.ts'
import { sandboxNotificationFormat } from './notificationForm.ts'
import { createSandbox } from './sandbox.ts'

export const sandbox = definePlugin({
  variables: {
    SANDBOX_PROVIDER: bool(false),
    SANDBOX_WEBHOOK_SECRET: Type.Optional(commaList()),
  },
  problems: ({ SANDBOX_PROVIDER: isAskedFor, SANDBOX_WEBHOOK_SECRET: webhookSecrets = [] }) =>
    isAskedFor && webhookSecrets.length === 0
      ? ['SANDBOX_WEBHOOK_SECRET is required when SANDBOX_PROVIDER is true']
      : [],
  isLive: () => false,
  async create({ SANDBOX_PROVIDER: isAskedFor, SANDBOX_WEBHOOK_SECRET: webhookSecrets }) {
    return isAskedFor && webhookSecrets ? createSandbox({ webhookSecrets }) : undefined
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
