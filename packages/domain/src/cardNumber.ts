// Finds card numbers and security codes. They must never reach the log: it is append-only and would keep them forever.
import { DomainError } from './errors.ts'

const shortestNumber = 13
const longestNumber = 19
/** The most separators between two groups of digits. */
const maxSeparators = 3
/** The lengths of the groups that are printed on cards. The last group of four may be shorter. */
const printedGroups = /^(?:4,){3,4}[1-4]$|^4,6,[45]$/
const maxPrintedGroups = 5
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/** The class of a character: 0–9 for the decimal digits of any script, or one of these. */
const blank = 10
const dash = 11
const otherSeparator = 12
const invisible = 13
const otherCharacter = 14
const unclassified = 255

/** Cache of classes by code point. The Unicode planes beyond these two have no digits and no separators. */
const classes = new Uint8Array(0x20000).fill(unclassified)

function classOf(code: number): number {
  const cached = classes[code] ?? otherCharacter
  if (cached !== unclassified) return cached
  const classified = classify(String.fromCodePoint(code), code)
  classes[code] = classified
  return classified
}

function classify(character: string, code: number): number {
  if (/\p{Nd}/u.test(character)) return digitValue(code)
  if (/\p{Zs}/u.test(character)) return blank
  if (/[\p{Pd}\u2212]/u.test(character)) return dash
  if (/[\t.\u00b7\u2022\u2024\uff0e]/.test(character)) return otherSeparator
  return /\p{DI}/u.test(character) ? invisible : otherCharacter
}

/** Unicode orders the digits of each script from 0 to 9. */
function digitValue(code: number): number {
  let before = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1
  return before % 10
}

/** Groups of digits with only separators between them. */
type Run = {
  readonly digits: number[]
  /** The index of each group's first digit. */
  readonly starts: number[]
  /** The separator before each group: `blank` or `dash` for a single one, else `otherSeparator`. */
  readonly separators: number[]
}

/**
 * Whether the text contains a card number: 13–19 digits that begin with 2–6, pass the Luhn check and make up whole groups,
 * not part of a longer one. Groups that are joined by single spaces or single dashes may have any length. With dots, tabs,
 * several separators or a mixture, only the group lengths printed on cards count, because dates, prices and IP addresses
 * look similar. UUIDs are exempt. Takes linear time.
 */
export function hasCardNumber(text: string): boolean {
  if (text.length < shortestNumber) return false
  const searched = text.includes('-') ? text.replace(uuid, ' x ') : text
  let run: Run = { digits: [], starts: [], separators: [] }
  let gap = 0
  let separator = otherSeparator
  for (let index = 0; index <= searched.length; index++) {
    // NUL past the end ends the last run.
    const code = searched.codePointAt(index) ?? 0
    if (code > 0xffff) index++
    const character = classOf(code)
    if (character === invisible) continue
    if (character < 10) {
      if (gap > 0 || run.digits.length === 0) {
        run.starts.push(run.digits.length)
        run.separators.push(gap === 1 ? separator : otherSeparator)
      }
      // One digit more than the longest number is enough to exclude a group.
      if (run.digits.length - (run.starts.at(-1) ?? 0) <= longestNumber) run.digits.push(character)
      gap = 0
    } else if (run.digits.length > 0) {
      gap += 1
      separator = character
      if (character !== otherCharacter && gap <= maxSeparators) continue
      if (holdsNumber(run)) return true
      run = { digits: [], starts: [], separators: [] }
      gap = 0
    }
  }
  return false
}

function holdsNumber(run: Run): boolean {
  return run.digits.length >= shortestNumber && run.starts.some((_, first) => beginsNumber(run, first))
}

/** Whether a card number begins with this group. Looks at 19 digits at most. */
function beginsNumber(run: Run, first: number): boolean {
  const { digits, starts } = run
  const start = starts[first] ?? 0
  const leading = digits[start] ?? 0
  if (leading < 2 || leading > 6) return false
  // Luhn doubles every other digit but not the last, so each further digit swaps which ones are doubled: we keep both sums.
  let sum = 0
  let sumOneDigitOn = 0
  let last = first
  const longest = Math.min(longestNumber, digits.length - start)
  for (let length = 1; length <= longest; length++) {
    const digit = digits[start + length - 1] ?? 0
    const before = sum
    sum = sumOneDigitOn + digit
    sumOneDigitOn = before + (digit > 4 ? digit * 2 - 9 : digit * 2)
    if (start + length !== (starts[last + 1] ?? digits.length)) continue
    if (length >= shortestNumber && sum % 10 === 0 && isWrittenLikeCard(run, first, last)) return true
    last += 1
  }
  return false
}

function isWrittenLikeCard({ digits, starts, separators }: Run, first: number, last: number): boolean {
  if (first === last) return true
  const separator = separators[first + 1]
  const areAlike = (other: number) => other === separator
  if (separator !== otherSeparator && separators.slice(first + 1, last + 1).every(areAlike)) return true
  if (last - first >= maxPrintedGroups) return false
  const ends = [...starts.slice(first + 1, last + 2), digits.length]
  const lengths = starts.slice(first, last + 1).map((start, index) => (ends[index] ?? start) - start)
  return printedGroups.test(lengths.join())
}

/** A client's key may be as long as the body, so the message shortens it. */
const shownKeyLength = 64

/** A field with card data, and a message that does not repeat the value. */
export type CardData = { readonly field: string; readonly message: string }

/**
 * Finds the first card number or security code in a parsed JSON value, in keys, strings and numbers at any depth; `null`
 * when there is none.
 * @param field the name of the value itself
 */
export function findCardData(value: unknown, field = ''): CardData | null {
  if (typeof value === 'string') return hasCardNumber(value) ? { field, message: 'must not hold a card number' } : null
  if (typeof value === 'number') return Number.isInteger(value) ? findCardData(String(value), field) : null
  if (typeof value !== 'object' || value === null) return null
  for (const [key, entry] of Object.entries(value)) {
    if (hasCardNumber(key)) return { field, message: 'must not have a key that holds a card number' }
    const name = `${field === '' ? '' : `${field}.`}${key.slice(0, shownKeyLength)}`
    if (isSecurityCode(key, entry)) return { field: name, message: 'must not hold the security code of a card' }
    const found = key === 'phone' && isPhoneNumber(entry) ? null : findCardData(entry, name)
    if (found !== null) return found
  }
  return null
}

/** The error for card data in a request. */
export const cardNumberError = (found: CardData) =>
  new DomainError(
    'card_number_rejected',
    'The request contains a card number or security code; send a provider token instead',
    { fields: [found] },
  )

function isSecurityCode(key: string, value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  if (!/^\s*\p{Nd}{3,4}\s*$/u.test(String(value))) return false
  const name = key.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return /^(?:card)?(?:cv[cv]2?|csc|securitycode)$|^cardcode$/.test(name)
}

/**
 * Whether this is an international phone number, which may pass the Luhn check by chance. It has at most 15 digits (E.164).
 * American Express and Diners Club numbers begin like the country codes +30, +34, +36 and +37, where phone numbers are shorter.
 */
function isPhoneNumber(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\+[\d\s().-]+$/.test(value)) return false
  const digits = value.replaceAll(/\D/g, '')
  return digits.length <= 15 && !/^(?:3[47]\d{13}|3(?:0[0-5]|6\d)\d{11})$/.test(digits)
}
