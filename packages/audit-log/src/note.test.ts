// Signed notes and checkpoints: the examples of Go's sumdb/note and of the specifications, and everything that is rejected.
import t, { type Test } from 'tap'
import { checkpointText, openCheckpoint, parseCheckpoint } from './checkpoint.ts'
import { NoteError, newSigningKey, noteText, openNote, parseSigningKey, parseVerifierKey, signNote } from './note.ts'

/** The example in the documentation of golang.org/x/mod/sumdb/note. */
const goSigningKey = 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz'
const goVerifierKey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const goText = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
const goNote = `${goText}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`

const peter = parseVerifierKey(goVerifierKey)
const rejected = (t: Test, note: string, message: string) =>
  t.throws(() => openNote(note, peter), { name: 'NoteError', message })

t.test('the keys and the note of Go are reproduced byte for byte, and the note opens', (t) => {
  const key = parseSigningKey(`${goSigningKey}\n`)
  t.equal(key.verifierKey, goVerifierKey)
  t.equal(signNote(goText, key), goNote)
  t.equal(noteText(goNote), goText)
  t.equal(openNote(goNote, peter).text, goText)
  t.end()
})

t.test('the note of the specification of signed notes opens with its key', (t) => {
  const verifier = parseVerifierKey('example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k')
  const note =
    'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
  t.equal(openNote(note, verifier).text, 'This is an example message.\n')
  t.end()
})

t.test('a new pair of keys signs and verifies, and another one does not', (t) => {
  const { signingKey, verifierKey } = newSigningKey('example.com/payments')
  t.match(signingKey, /^PRIVATE\+KEY\+example\.com\/payments\+[0-9a-f]{8}\+/)
  const note = signNote('text\n', parseSigningKey(signingKey))
  const verifier = parseVerifierKey(verifierKey)
  t.equal(openNote(note, verifier).text, 'text\n')
  const other = parseVerifierKey(newSigningKey('example.com/payments').verifierKey)
  t.throws(() => openNote(note, other), { message: 'The note has no signature of a known key' })
  const signedTwice = `${note}${goNote.split('\n\n')[1]}`
  t.equal(openNote(signedTwice, verifier).text, 'text\n', 'signatures of unknown keys are ignored')
  t.throws(() => openNote(signedTwice, peter), { message: 'The signature of PeterNeumann is wrong' })
  t.end()
})

t.test('a changed or malformed note is rejected', (t) => {
  rejected(t, goNote.replace('think', 'thinc'), 'The signature of PeterNeumann is wrong')
  rejected(t, goNote.replace('x08go/ZJ', 'x08go/ZK'), 'The signature of PeterNeumann is wrong')
  rejected(t, goNote.replace('JnAM=', 'JnAN='), 'The note has a malformed signature')
  rejected(t, goNote.replace('x08go', 'x08gp'), 'The note has no signature of a known key')
  rejected(t, goText, 'The note has no signatures')
  rejected(t, goNote.slice(0, -1), 'The note has no signatures')
  rejected(t, `${goNote}x\n`, 'The note has a malformed signature')
  rejected(t, goNote.replace('— ', '- '), 'The note has a malformed signature')
  rejected(t, goNote.replace('\n', '\r\n'), 'A note is text without control characters')
  rejected(t, `${'x'.repeat(1_000_000)}${goNote}`, 'The note is too long')
  rejected(t, goNote + `${goNote.split('\n\n')[1]}`.repeat(100), 'The note has too many signatures')
  t.end()
})

t.test('a malformed key is rejected, and the message does not show it', (t) => {
  const secret = goSigningKey.slice(goSigningKey.indexOf('AYEK'))
  for (const text of [
    goVerifierKey,
    goSigningKey.replace('PRIVATE', 'private'),
    goSigningKey.replace(`+${secret}`, ''),
    goSigningKey.replace('c74f20a3', '00000000'),
    goSigningKey.replace('PeterNeumann', 'Peter Neumann'),
    `${goSigningKey}AAAA`,
    goSigningKey.replace('AYEK', 'AoEK'),
  ]) {
    const error = t.throws(() => parseSigningKey(text), { name: 'NoteError' })
    t.notMatch(String(error), secret.slice(4, 20))
  }
  t.throws(() => parseVerifierKey(goVerifierKey.replace('c74f20a3', 'c74f20a4')), NoteError)
  t.throws(() => newSigningKey('with space'), NoteError)
  t.throws(() => newSigningKey('with+plus'), NoteError)
  t.throws(() => signNote('no line feed', parseSigningKey(goSigningKey)), NoteError)
  t.end()
})

t.test('a checkpoint is three lines, and opens for the log of its key only', (t) => {
  const root = Buffer.from('CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=', 'base64')
  const checkpoint = { origin: 'PeterNeumann', size: 20_852_163, root }
  const text = 'PeterNeumann\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'
  t.equal(checkpointText(checkpoint), text)
  t.same(parseCheckpoint(text), checkpoint)
  t.same(parseCheckpoint(`${text}extension\n`), checkpoint)
  const key = parseSigningKey(goSigningKey)
  t.same(openCheckpoint(signNote(text, key), peter), checkpoint)
  const foreign = signNote(text.replace('PeterNeumann', 'example.com'), key)
  t.throws(() => openCheckpoint(foreign, peter), {
    message: 'The checkpoint is one of example.com, not of PeterNeumann',
  })
  for (const wrong of [
    text.replace('2085', '02085'),
    text.replace('20852163', '99999999999999999999'),
    text.replace('CsUY', ''),
    text.replace('q2I=', 'q2J='),
    text.slice(0, -1),
    `${text}\n`,
    'PeterNeumann\n1\n',
  ])
    t.throws(() => parseCheckpoint(wrong), { name: 'NoteError', message: /is not a checkpoint/ })
  t.end()
})
