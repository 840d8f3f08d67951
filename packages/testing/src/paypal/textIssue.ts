// What PayPal says of a text that is not as it should be.

/** @returns nothing when it is as it should be */
export function textIssue(
  text: unknown,
  { min, max, isRequired }: { readonly min: number; readonly max: number; readonly isRequired: boolean },
): string | undefined {
  if (text === undefined) return isRequired ? 'MISSING_REQUIRED_PARAMETER' : undefined
  if (typeof text !== 'string') return 'INVALID_PARAMETER_SYNTAX'
  if (text.length < min) return 'INVALID_STRING_MIN_LENGTH'
  return text.length > max ? 'INVALID_STRING_MAX_LENGTH' : undefined
}
