// The log and the providers, for commands that call providers about payments.
import type { Writable } from 'node:stream'
import { loadConfig } from '@paylog/config/environment'
import type { AuditedAction } from '@paylog/domain/auditedActions'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { recordedId } from '@paylog/domain/fields'
import type { Workflow } from '@paylog/workflows/context'
import { enabledProviders, providerVariables } from '@paylog/workflows/enabledProviders'
import { Type } from 'typebox'
import { auditOn, operatorMetadata } from '../audit.ts'
import { type CommandContext, OpsError, UsageError } from '../command.ts'
import { eventLogVariables, openEventLog } from '../eventLog.ts'

const Config = Type.Object({ ...eventLogVariables, ...providerVariables })

const noProvider =
  'No provider is enabled. Set the same credentials as for the apps: STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET, ' +
  'PAYPAL_CLIENT_ID, PAYPAL_CLIENT_SECRET and PAYPAL_WEBHOOK_ID, or AUTHORIZE_NET_API_LOGIN_ID, ' +
  'AUTHORIZE_NET_TRANSACTION_KEY and AUTHORIZE_NET_SIGNATURE_KEY.'

/**
 * Connects to the log and the enabled providers.
 * @returns `close` ends the connections
 * @throws ConfigError; OpsError when no provider is enabled
 */
export async function openWorkflow(
  environment: NodeJS.ProcessEnv,
  errors: Writable,
): Promise<Workflow & { close(): Promise<void> }> {
  const config = loadConfig(Config, environment)
  const providers = await enabledProviders(config)
  if (providers.size === 0) throw new OpsError(noProvider)
  const { store, close } = await openEventLog(config, errors)
  return {
    store,
    providers,
    now: () => new Date(),
    async close() {
      await Promise.all([...providers.values()].map((provider) => provider.close()))
      await close()
    },
  }
}

/** What is about to be done with a payment, and why. */
export type PaymentDeed = {
  readonly action: AuditedAction
  readonly payment_id: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly reason: string | null
}

/**
 * Runs a change of one payment, once it is recorded in the audit trail. The message of a DomainError gets its code and
 * details.
 * @throws OpsError
 */
export async function withWorkflow<Result>(
  { environment, errors }: Pick<CommandContext, 'environment' | 'errors'>,
  { action, payment_id, details = {}, reason }: PaymentDeed,
  change: (workflow: Workflow, metadata: EventMetadata) => Promise<Result>,
): Promise<Result> {
  const workflow = await openWorkflow(environment, errors)
  try {
    const metadata = operatorMetadata()
    const target = { kind: 'payment', id: payment_id }
    await auditOn(workflow.store, reason, { action, target, details }, metadata)
    return await change(workflow, metadata)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const details = Object.entries(error.details ?? {}).map(([name, value]) => `, ${name} ${value}`)
    throw new OpsError(`${error.message} (${error.code}${details.join('')})`, { cause: error })
  } finally {
    await workflow.close()
  }
}

/** @throws UsageError when it is not the id of a payment */
export function readPaymentId(text: string): string {
  const id = recordedId(text)
  if (id === null) throw new UsageError('ID must be the id of a payment, a UUID')
  return id
}

/**
 * Reads the value of `--amount-cents`.
 * @returns undefined when it is not given
 * @throws UsageError
 */
export function readAmount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,11}$/.test(text))
    throw new UsageError('--amount-cents must be a whole number of at least 1, in minor units of the currency')
  return Number(text)
}

const maxTextLength = 500

/**
 * Reads a text option for the record.
 * @returns null when it is not given
 * @throws UsageError when it is too long
 */
export function readNote(option: string, text: string | undefined): string | null {
  if (text !== undefined && text.length > maxTextLength)
    throw new UsageError(`${option} must be at most ${maxTextLength} characters`)
  return text ?? null
}
