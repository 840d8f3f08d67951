// `sandbox settle`: reports the outcome of a sandbox payment.
import { loadConfig } from '@paylog/config/environment'
import { commaList, port, text, url } from '@paylog/config/kinds'
import { createEventStore } from '@paylog/event-store/eventStore'
import { reachableUrl } from '@paylog/runtime/process/reachableUrl'
import { SettlementError, settlements, settlePayment } from '@paylog/workflows/payments/settlement'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments, UsageError } from '../command.ts'

const Config = Type.Object({
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
  HOST: text('127.0.0.1'),
  PORT: port(8080),
  SANDBOX_WEBHOOK_SECRET: commaList(),
})

export const sandboxSettle: CliCommand = {
  usage: `PAYMENT ${settlements.join('|')} [--json]`,
  summary: 'Report the outcome of a sandbox payment as the provider would',
  details: [
    `  OUTCOME  what the provider reports: ${settlements.join(', ')}`,
    '  --json   one object: payment_id, status, event_id',
    '',
    'Sends a signed sandbox notification to the API. Exits with 1 when the payment does not get this status, for example',
    'because it is already final.',
  ].join('\n'),
  async run(args, { environment, print }) {
    const { values, positionals } = readArguments(args, ['PAYMENT', 'OUTCOME'], { json: { type: 'boolean' } })
    const [paymentId, word] = positionals
    const outcome = settlements.find((settlement) => settlement === word)
    if (outcome === undefined) throw new UsageError(`The outcome must be one of ${settlements.join(', ')}`)
    const config = loadConfig(Config, environment)
    const store = createEventStore({ connectionString: config.EVENTSTORE_URL })
    try {
      const baseUrl = reachableUrl(config.HOST, config.PORT)
      const secret = config.SANDBOX_WEBHOOK_SECRET[0] ?? ''
      const settled = settlePayment({ store, baseUrl, secret, paymentId, outcome })
      const { event_id, payment } = await settled.catch((cause: unknown) => {
        throw cause instanceof SettlementError ? new OpsError(cause.message, { cause }) : cause
      })
      const { status } = payment
      if (values.json) await print(JSON.stringify({ payment_id: paymentId, status, event_id }))
      else await print(`Payment ${paymentId} is ${status}.`)
      if (status !== outcome)
        throw new OpsError(`The notification is recorded, but the payment did not become "${outcome}".`)
    } finally {
      await store.close()
    }
  },
}
