// `sandbox settle`: reports the outcome of a sandbox payment.
import { settlements, settlePayment } from '@paylog/workflows/payments/settlement'
import type { CliCommand } from '../command.ts'
import { describeStatus, jsonOption, readOutcome, runSandboxCommand, silentOption } from './sandboxCommand.ts'

export const sandboxSettle: CliCommand = {
  usage: `PAYMENT ${settlements.join('|')} [--silent] [--json]`,
  summary: 'Report the outcome of a sandbox payment as the provider would',
  details: [
    `  OUTCOME   what the provider reports: ${settlements.join(', ')}`,
    silentOption,
    jsonOption,
    '',
    'Sends a signed sandbox notification to the API. Exits with 1 when the payment does not get this status, for example',
    'because it is already final. A payment with manual capture is authorized, and waits for its capture.',
  ].join('\n'),
  run: (args, context) =>
    runSandboxCommand(args, context, ['PAYMENT', 'OUTCOME'], (word) => {
      const outcome = readOutcome(word, settlements)
      return {
        send: (report) => settlePayment({ ...report, outcome }),
        describe: describeStatus,
        expected: outcome === 'authorized' ? 'processing' : outcome,
      }
    }),
}
