// The terms by which administrators find payments: whole e-mails and references, and words that match by their beginning.
import { foldEmail } from '@paylog/domain/actor'
import { foldCase } from '../queries/textFilters.ts'

/** Between terms. No search contains it. */
export const termSeparator = '\u001f'

/** Longer words are cut, because Postgres limits them to 2 KB; so are those that are searched for. */
const maxWordLength = 64
const maxWords = 200

/** The kinds of terms, so that they do not match each other. */
const emailTerm = (email: string) => `@${foldEmail(email)}`
const referenceTerm = (reference: string) => `=${reference}`
const wordTerm = (word: string) => `.${word}`

/** The words of a text: letters, marks and digits, in lower case. */
export function wordsOf(text: string): readonly string[] {
  const words = foldCase(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return [...new Set(words.map((word) => [...word].slice(0, maxWordLength).join('')))].slice(0, maxWords)
}

/** All terms of a payment, as text. */
export function searchTerms(payment: {
  readonly emails: readonly (string | null)[]
  readonly reference_code: string | null
  readonly description: string | null
}): string {
  const { emails, reference_code, description } = payment
  return [
    ...new Set(emails.flatMap((email) => (email === null ? [] : [emailTerm(email)]))),
    ...(reference_code === null ? [] : [referenceTerm(reference_code)]),
    ...wordsOf(description ?? '').map(wordTerm),
  ]
    .map((term) => term.replaceAll(termSeparator, ' '))
    .filter((term) => term.length <= maxTermLength)
    .join(termSeparator)
}

/** A term of up to four bytes a letter fits into the limit of Postgres. */
const maxTermLength = 500

/** The same as the text search's query: the whole text as e-mail or reference, or all of its words. */
export function termsQuery(search: string): string {
  const words = wordsOf(search).map((word) => `${quoted(wordTerm(word))}:*`)
  const whole = [emailTerm(search), referenceTerm(search)].map(quoted)
  return [...whole, ...(words.length > 0 ? [`(${words.join(' & ')})`] : [])].join(' | ')
}

/** As the text search quotes a term. */
const quoted = (term: string) => `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

/** The terms of a row, for its index and for queries. Both must have the same expression. */
export const searchTermsSql = String.raw`array_to_tsvector(string_to_array(search_terms, e'\x1f'))`
