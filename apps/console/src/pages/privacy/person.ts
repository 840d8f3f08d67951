// Whom an erasure is about, as an administrator enters it, or as a link says it.
import { textsOf } from '../../search.ts'

const kinds = ['guest_email', 'user_id', 'payment_id'] as const
type PersonKind = (typeof kinds)[number]

export const personKinds: readonly { readonly value: PersonKind; readonly label: string; readonly hint: string }[] = [
  { value: 'guest_email', label: 'E-mail address', hint: 'The guest, and every user who was seen with it' },
  { value: 'user_id', label: 'User id', hint: 'Everything that this user paid and saved' },
  { value: 'payment_id', label: 'Anonymous payment', hint: 'The id of a payment without a user and an e-mail address' },
]

export type Person = { readonly kind: PersonKind; readonly value: string }

export const privacySearch = (search: Record<string, unknown>) => textsOf(search, kinds)

/** The person that a link names. */
export function linkedPerson(search: ReturnType<typeof privacySearch>): Person {
  const kind = kinds.find((each) => search[each] !== undefined) ?? 'guest_email'
  return { kind, value: search[kind] ?? '' }
}

/** The body of a request about the person. */
export const personBody = ({ kind, value }: Person) => ({ [kind]: value.trim() })

export const isSamePerson = (one: Person, other: Person | undefined): boolean =>
  other !== undefined && one.kind === other.kind && one.value.trim() === other.value.trim()
