// The texts that a client sends with a payment. Every response returns them unchanged.
import { Type } from 'typebox'
import { LongText, mapFields, Text } from '../fields.ts'
import { PersonalText } from '../personalData.ts'

/** In every PaymentInitiated. */
const firstTexts = { description: LongText, concept: Text, reference_code: Text, category: Text, tags: LongText }

/** Missing in events that were recorded before the field existed. New fields go here. */
const laterTexts = {}

/** The schema of each text in a request, where all are optional. */
export const clientTexts = { ...firstTexts, ...laterTexts }

/** Their fields in PaymentInitiated. */
export const recordedTexts = {
  ...mapFields(firstTexts, () => PersonalText),
  ...mapFields(laterTexts, () => Type.Optional(PersonalText)),
}

type ClientTexts = Readonly<Record<keyof typeof clientTexts, string | null>>

/** Picks the texts; null for those that are missing. */
export function clientTextsOf(from: Partial<Record<keyof ClientTexts, string | null | undefined>>): ClientTexts {
  return mapFields(clientTexts, (_, name) => from[name] ?? null)
}
