// The log and the providers, for commands that call providers about payments.

import type { Workflow } from '@paylog/commands/context'
import { recordedId } from '@paylog/domain/fields'
import { OpsError, UsageError } from '../command.ts'
import { count, value } from '../options.ts'
import type { System } from '../system.ts'

const noProvider =
  'No provider is enabled. Set the same credentials as for the apps, such as STRIPE_SECRET_KEY and ' +
  'STRIPE_WEBHOOK_SECRET: docs/configuration.md, Providers.'

/**
 * Connects to the log and the enabled providers.
 * @throws ConfigError; OpsError when no provider is enabled
 */
export async function openWorkflow(open: System): Promise<Workflow> {
  const providers = await open.providers()
  if (providers.size === 0) throw new OpsError(noProvider)
  return { store: await open.store(await open.keys()), providers, now: () => new Date() }
}

/** @throws UsageError when it is not the id of a payment */
export function readPaymentId(text: string): string {
  const id = recordedId(text)
  if (id === null) throw new UsageError('ID must be the id of a payment, a UUID')
  return id
}

/** `--amount-cents` */
export const amountOption = (otherwise: string) =>
  count('N', `in minor units of the currency; ${otherwise} without it`, { max: 999_999_999_999 })

const maxTextLength = 500

/** A text for the record. */
export const note = (help: string) =>
  value('TEXT', help, (text, name) => {
    if (text.length > maxTextLength) throw new UsageError(`${name} must be at most ${maxTextLength} characters`)
    return text
  })
