// The terms by which administrators find payments: whole e-mails and references, and words that match by their beginning.
import { foldEmail } from '@paylog/domain/actor'
import { foldCase, normalized } from '../searchText.ts'

/** Between terms. No search contains it. */
const termSeparator = '\u001f'

/** Longer words are cut, because Postgres limits them to 2 KB; so are those that are searched for. */
const maxWordLength = 64
const maxWords = 200

/** The kinds of terms, so that they do not match each other. */
const emailTerm = (email: string) => `@${foldEmail(email)}`
const referenceTerm = (reference: string) => `=${reference}`
const wordTerm = (word: string) => `.${word}`

/** The words of a text: letters, marks and digits, in lower case. */
function wordsOf(text: string): readonly string[] {
  // The final sigma is a form of the same letter.
  const words =
    foldCase(text)
      .replaceAll('ς', 'σ')
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return [...new Set(words.map((word) => [...word].slice(0, maxWordLength).join('')))].slice(0, maxWords)
}

/** All terms of a payment, as text. */
export function searchTerms(payment: {
  readonly emails: readonly (string | null)[]
  readonly reference_code: string | null
  readonly concept: string | null
  readonly description: string | null
}): string {
  const { emails, reference_code, concept, description } = payment
  return [
    ...new Set(emails.flatMap((email) => (email === null ? [] : [emailTerm(email)]))),
    ...(reference_code === null ? [] : [referenceTerm(reference_code)]),
    ...wordsOf(`${concept ?? ''} ${reference_code ?? ''} ${description ?? ''}`).map(wordTerm),
  ]
    .map(indexed)
    .join(termSeparator)
}

/** Up to three bytes for each UTF-16 unit fit into the limit of Postgres. */
const maxTermLength = 600

/** The term as it is stored: in one form of its characters, without separators, without what Postgres text has not, and not too long. */
const indexed = (term: string) =>
  normalized(term).slice(0, maxTermLength).toWellFormed().replaceAll('\0', '\ufffd').replaceAll(termSeparator, '\ufffd')

/** The same as the text search's query: the whole text as e-mail or reference, or all of its words. */
export function termsQuery(search: string): string {
  const words = wordsOf(search).map((word) => `${quoted(wordTerm(word))}:*`)
  const whole = [emailTerm(search), referenceTerm(search)].map(quoted)
  return [...whole, ...(words.length > 0 ? [`(${words.join(' & ')})`] : [])].join(' | ')
}

/** The payments with this reference, and perhaps others with a long one. */
export const referenceQuery = (reference: string) => quoted(referenceTerm(reference))

/** As the text search quotes a term. */
const quoted = (term: string) => `'${indexed(term).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

/** The terms of a row, for its index and for queries. Both must have the same expression. */
export const searchTermsSql = String.raw`array_to_tsvector(string_to_array(search_terms, e'\x1f'))`
