// The amount of a refund or a capture.
import { TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { decimalOf, formatMoney, parseMoney } from '../../../format/money.ts'

export type Amount = {
  /** What is entered; null when it is no amount. */
  readonly cents: number | null
  /** The same; null also when it is nothing or too much. */
  readonly possible: number | null
  /** The field, with a further hint. */
  readonly fieldWith: (hint?: string) => ReactNode
}

/**
 * @param options `most` is the highest possible amount, and what the field begins with. `mostBecause` says why it is no more
 */
export function useAmount(options: {
  readonly currency: string
  readonly most: number
  readonly mostBecause?: string | undefined
}): Amount {
  const { currency, most, mostBecause } = options
  const [text, setText] = useState(decimalOf(most, currency))
  const cents = parseMoney(text, currency)
  const isPossible = cents !== null && cents > 0 && cents <= most
  const limit = formatMoney(most, currency)
  return {
    cents,
    possible: isPossible ? cents : null,
    fieldWith: (hint) => (
      <TextInput
        label={`Amount in ${currency}`}
        description={[`At most ${limit}`, mostBecause, hint].filter((text) => text !== undefined).join('. ')}
        inputMode="decimal"
        required
        data-autofocus
        value={text}
        error={isPossible ? undefined : `Enter an amount up to ${limit}`}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
    ),
  }
}
