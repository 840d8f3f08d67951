// Finds card numbers, which must never reach the log: an append-only log would keep them for ever.

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
const digitGroups = /\d+(?:[ -]\d+)*/g

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let fromRight = 0; fromRight < digits.length; fromRight++) {
    const digit = Number(digits[digits.length - 1 - fromRight])
    const weighted = fromRight % 2 === 1 ? digit * 2 : digit
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}

/** Whether some neighbouring groups together are 13–19 digits that begin with 2–6 and pass the Luhn check. */
function groupsHoldCard(groups: readonly string[]): boolean {
  return groups.some((_, start) => {
    let digits = ''
    // Not a slice: a text of nothing but short groups would cost the square of its length.
    for (let index = start; index < groups.length; index++) {
      digits += groups[index] ?? ''
      if (digits.length > 19) return false
      if (digits.length >= 13 && /^[2-6]/.test(digits) && passesLuhn(digits)) return true
    }
    return false
  })
}

/**
 * Whether the text holds a card number: whole groups of digits, joined by single spaces or dashes. A group is never
 * split, so a part of a longer run of digits does not count. UUIDs are exempt.
 */
export function hasCardNumber(text: string): boolean {
  const found = text.replace(uuid, ' x ').match(digitGroups) ?? []
  return found.some((match) => groupsHoldCard(match.split(/[ -]/)))
}

/**
 * Whether a parsed JSON value holds a card number anywhere: keys, texts, numbers. A `phone` that begins with `+` is
 * exempt, since an international number may pass the Luhn check by chance.
 */
export function holdsCardNumber(value: unknown): boolean {
  if (typeof value === 'string') return hasCardNumber(value)
  if (typeof value === 'number') return hasCardNumber(String(value))
  if (Array.isArray(value)) return value.some(holdsCardNumber)
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([key, entry]) => {
    if (hasCardNumber(key)) return true
    if (key === 'phone' && typeof entry === 'string' && /^\+[\d ()-]+$/.test(entry)) return false
    return holdsCardNumber(entry)
  })
}
