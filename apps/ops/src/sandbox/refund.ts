// `sandbox refund`: reports how a refund of a sandbox payment ended.
import { endRefund, refundEnds } from '@paylog/workflows/payments/settlement'
import type { CliCommand } from '../command.ts'
import { jsonOption, readOutcome, runSandboxCommand, silentOption } from './sandboxCommand.ts'

export const sandboxRefund: CliCommand = {
  usage: `PAYMENT ${refundEnds.join('|')} [--silent] [--json]`,
  summary: 'Report how the newest refund of a sandbox payment ended',
  details: [
    `  OUTCOME   what the provider reports: ${refundEnds.join(', ')}`,
    silentOption,
    jsonOption,
    '',
    'Refunds succeed at once; those of payments with pm_card_refundFails are pending. Both may fail.',
  ].join('\n'),
  run: (args, context) =>
    runSandboxCommand(args, context, ['PAYMENT', 'OUTCOME'], (word) => {
      const outcome = readOutcome(word, refundEnds)
      return {
        send: (report) => endRefund({ ...report, outcome }),
        describe: ({ payment_id }) => `The refund of payment ${payment_id} ${outcome}.`,
      }
    }),
}
