// The texts that a client sends with a payment. Every response returns them unchanged.
import { LongText, mapFields, Text } from '../fields.ts'
import { PersonalText } from '../personalData.ts'

/** The schema of each text in a request, where all are optional. */
export const clientTexts = {
  description: LongText,
  concept: Text,
  reference_code: Text,
  category: Text,
  tags: LongText,
}

/** Their fields in PaymentInitiated. A text that is added since 1.0.0 is optional there: earlier events do not have it. */
export const recordedTexts = mapFields(clientTexts, () => PersonalText)

export type ClientTexts = Readonly<Record<keyof typeof clientTexts, string | null>>

/** Picks the texts; null for those that are missing. */
export function clientTextsOf(from: Partial<Record<keyof ClientTexts, string | null | undefined>>): ClientTexts {
  return mapFields(clientTexts, (_, name) => from[name] ?? null)
}
