// `sandbox approve`: the payer does what the test method of a sandbox payment asks for.
import { approvePayment } from '@paylog/workflows/payments/settlement'
import type { CliCommand } from '../command.ts'
import { describeStatus, jsonOption, runSandboxCommand, silentOption } from './sandboxCommand.ts'

export const sandboxApprove: CliCommand = {
  usage: 'PAYMENT [--silent] [--json]',
  summary: 'Act as the payer of a sandbox payment that waits for an action or approval',
  details: [
    silentOption,
    jsonOption,
    '',
    'A payment with pm_card_actionRequired succeeds. One with pm_card_approval is processing, and Paylog captures it.',
  ].join('\n'),
  run: (args, context) =>
    runSandboxCommand(args, context, ['PAYMENT'], () => ({ send: approvePayment, describe: describeStatus })),
}
