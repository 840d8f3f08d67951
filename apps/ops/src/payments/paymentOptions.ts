// The arguments that commands for one payment share.
import { recordedId } from '@paylog/domain/fields'
import { maxNoteLength } from '@paylog/domain/reason'
import { UsageError } from '../command.ts'
import { count, value } from '../options.ts'

/** @throws UsageError when it is not the id of a payment */
export function readPaymentId(text: string): string {
  const id = recordedId(text)
  if (id === null) throw new UsageError('ID must be the id of a payment, a UUID')
  return id
}

/** `--amount-cents` */
export const amountOption = (otherwise: string) =>
  count('N', `in minor units of the currency; ${otherwise} without it`, { max: 999_999_999_999 })

/** A text for the record. */
export const note = (help: string) =>
  value('TEXT', help, (text, name) => {
    if (text.length > maxNoteLength) throw new UsageError(`${name} must be at most ${maxNoteLength} characters`)
    return text
  })
