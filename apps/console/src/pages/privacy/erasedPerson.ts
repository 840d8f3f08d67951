// Whom an erasure is about, as an administrator enters it.
export const personKinds = [
  { value: 'guest_email', label: 'E-mail' },
  { value: 'user_id', label: 'User id' },
  { value: 'payment_id', label: 'Anonymous payment' },
]

export type Person = { readonly kind: 'guest_email' | 'user_id' | 'payment_id'; readonly value: string }

/** The body of a request about the person. */
export const personBody = ({ kind, value }: Person) => ({ [kind]: value.trim() })
