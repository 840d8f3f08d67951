// `sandbox dispute`: reports a dispute of a sandbox payment.
import { disputePayment, disputeReports } from '@paylog/workflows/payments/settlement'
import type { CliCommand } from '../command.ts'
import { jsonOption, readOutcome, runSandboxCommand } from './sandboxCommand.ts'

export const sandboxDispute: CliCommand = {
  usage: `PAYMENT ${disputeReports.join('|')} [--json]`,
  summary: 'Report that the payer disputes a sandbox payment, or how the dispute ended',
  details: [`  OUTCOME   what the provider reports: ${disputeReports.join(', ')}`, jsonOption].join('\n'),
  run: (args, context) =>
    runSandboxCommand(args, context, ['PAYMENT', 'OUTCOME'], (word) => {
      const outcome = readOutcome(word, disputeReports)
      return {
        send: (report) => disputePayment({ ...report, outcome }),
        describe: ({ payment_id }) => `The dispute of payment ${payment_id} is ${outcome}.`,
      }
    }),
}
