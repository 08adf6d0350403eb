//! `cove-trace follow`, and `timeline --follow`: with files that change while the command runs.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use cove_trace::ValueCapture;

use crate::harness::Place;
use crate::known_run::record;

/// How long to wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long to wait for what must not come.
const A_WHILE: Duration = Duration::from_millis(300);

/// The command at work.
struct Following {
    child: Child,
    rows: Receiver<String>,
    said: Receiver<String>,
}

impl Following {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, stderr): (ChildStdout, ChildStderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        Self { child, rows: lines_of(stdout), said: lines_of(stderr) }
    }

    /// The lines of JSON, `task_cancelled` events, give these ids next.
    #[track_caller]
    fn assert_gives(&self, ids: impl IntoIterator<Item = u64>) {
        for id in ids {
            let row = self.rows.recv_timeout(PATIENCE).unwrap();
            assert_eq!(row, cancelled(id).trim_end());
        }
    }

    #[track_caller]
    fn assert_says(&self, part: &str) {
        let said = self.said.recv_timeout(PATIENCE).unwrap();
        assert!(said.contains(part), "{said} for {part}");
    }

    #[track_caller]
    fn assert_waits(&self) {
        assert_eq!(self.rows.recv_timeout(A_WHILE).ok(), None);
        assert_eq!(self.said.try_recv().ok(), None);
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    receiver
}

fn header() -> Vec<u8> {
    record(ValueCapture::Full, &[])
}

fn cancelled(id: u64) -> String {
    format!("{{\"event\":\"task_cancelled\",\"id\":{id}}}\n")
}

fn append(place: &Place, name: &str, bytes: impl AsRef<[u8]>) {
    OpenOptions::new().append(true).create(true).open(place.path(name)).unwrap().write_all(bytes.as_ref()).unwrap();
}

const FOLLOW: [&str; 3] = ["follow", "--json", "run.jsonl"];

#[test]
fn lines_come_as_they_are_written_and_halves_wait() {
    for args in [&FOLLOW[..], &["timeline", "-f", "--json", "run.jsonl"]] {
        let place = Place::new();
        place.write("run.jsonl", header());
        append(&place, "run.jsonl", cancelled(1) + &cancelled(2));
        let following = Following::start(&place, args);
        following.assert_gives([1, 2]);
        let (half, rest) = (&cancelled(3)[..20], &cancelled(3)[20..]);
        append(&place, "run.jsonl", half);
        following.assert_waits();
        append(&place, "run.jsonl", rest);
        following.assert_gives([3]);
        following.assert_waits();
    }
}

#[test]
fn a_file_that_is_not_there_yet() {
    let place = Place::new();
    let following = Following::start(&place, &FOLLOW);
    following.assert_says("run.jsonl: not there yet");
    following.assert_waits();
    append(&place, "run.jsonl", header());
    following.assert_says("it is there now");
    append(&place, "run.jsonl", cancelled(1));
    following.assert_gives([1]);
}

#[test]
fn a_file_that_is_cut_short() {
    let place = Place::new();
    place.write("run.jsonl", header());
    let following = Following::start(&place, &FOLLOW);
    append(&place, "run.jsonl", cancelled(10) + &cancelled(11));
    following.assert_gives([10, 11]);
    // The same file, emptied and written anew.
    let file = File::options().write(true).truncate(true).open(place.path("run.jsonl")).unwrap();
    drop(file);
    following.assert_says("cut short");
    append(&place, "run.jsonl", header());
    append(&place, "run.jsonl", cancelled(12));
    following.assert_gives([12]);
    // Written anew at once, and longer than it was.
    let other = String::from_utf8(header()).unwrap().replace("main.cove", "another.cove");
    fs::write(place.path("run.jsonl"), other + &(20..40).map(cancelled).collect::<String>()).unwrap();
    following.assert_says("cut short");
    following.assert_gives(20..40);
    following.assert_waits();
}

#[test]
fn a_file_that_is_replaced() {
    let place = Place::new();
    place.write("run.jsonl", header());
    append(&place, "run.jsonl", cancelled(1));
    let following = Following::start(&place, &FOLLOW);
    following.assert_gives([1]);
    for round in 1..=3 {
        // The last line of the old file comes with the new one already in its place.
        append(&place, "run.jsonl", &cancelled(round * 10)[..15]);
        let mut old = OpenOptions::new().append(true).open(place.path("run.jsonl")).unwrap();
        place.write("next", header());
        append(&place, "next", cancelled(round * 10 + 1));
        fs::rename(place.path("next"), place.path("run.jsonl")).unwrap();
        thread::sleep(Duration::from_millis(150));
        old.write_all(&cancelled(round * 10).as_bytes()[15..]).unwrap();
        following.assert_gives([round * 10]);
        following.assert_says("replaced");
        following.assert_gives([round * 10 + 1]);
    }
    fs::rename(place.path("run.jsonl"), place.path("run.jsonl.1")).unwrap();
    following.assert_says("no longer there");
    append(&place, "run.jsonl.1", cancelled(98));
    following.assert_gives([98]);
    place.write("run.jsonl", header());
    following.assert_says("replaced");
    append(&place, "run.jsonl", cancelled(99));
    following.assert_gives([99]);
    following.assert_waits();
}

#[test]
fn bytes_laid_out_ahead_of_their_writer_wait() {
    let place = Place::new();
    let mut content = header();
    content.extend_from_slice(cancelled(1).as_bytes());
    let mut end = content.len() as u64;
    content.resize(1 << 20, 0);
    place.write("run.jsonl", &content);
    let following = Following::start(&place, &FOLLOW);
    following.assert_gives([1]);
    let mut file = File::options().write(true).open(place.path("run.jsonl")).unwrap();
    for id in 2..5 {
        following.assert_waits();
        // A line of which the second half is written first.
        let line = cancelled(id);
        let (first, second) = line.as_bytes().split_at(12);
        for (offset, part) in [(12, second), (0, first)] {
            std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(end + offset)).unwrap();
            file.write_all(part).unwrap();
            thread::sleep(Duration::from_millis(120));
        }
        following.assert_gives([id]);
        end += line.len() as u64;
    }
    file.set_len(end).unwrap();
    following.assert_waits();
}

/// A file that was laid out ahead, whose writer died, and to which another appends. What stands behind the zeros comes, once it
/// is clear that they stay.
#[test]
fn a_gap_longer_than_what_is_read_at_a_time() {
    for zeros in [100, 64 * 1024, 64 * 1024 + 1, 5 * 1024 * 1024] {
        let place = Place::new();
        place.write("run.jsonl", header());
        append(&place, "run.jsonl", cancelled(1));
        append(&place, "run.jsonl", vec![0; zeros]);
        let following = Following::start(&place, &FOLLOW);
        following.assert_gives([1]);
        following.assert_waits();
        append(&place, "run.jsonl", format!("\n{}", cancelled(2)));
        following.assert_says("run.jsonl:3:1: error: ");
        following.assert_gives([2]);
        append(&place, "run.jsonl", cancelled(3));
        following.assert_gives([3]);
        following.assert_waits();
    }
}

#[test]
fn what_is_compressed_is_refused() {
    let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let zstandard = [0x28, 0xb5, 0x2f, 0xfd, 0x24, 0];
    for (format, content) in [("gzip", &gzip[..]), ("zstd", &zstandard)] {
        for command in [&FOLLOW[..], &["timeline", "-f", "run.jsonl"]] {
            let place = Place::new();
            place.write("run.jsonl", content);
            let run = place.run(command);
            let said = format!(
                "run.jsonl:1:1: error: it is compressed with {format}, and can't be followed; cove-trace timeline reads \
                 what is there"
            );
            run.assert_said(2, &[&said]);
        }
    }
}

#[test]
fn none_twice_and_none_missed() {
    let place = Place::new();
    place.write("run.jsonl", header());
    let following = Following::start(&place, &FOLLOW);
    let path = place.path("run.jsonl");
    let writer = thread::spawn(move || {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        for id in 0..20_000 {
            let line = cancelled(id);
            let (first, second) = line.as_bytes().split_at(id as usize % line.len());
            file.write_all(first).unwrap();
            file.write_all(second).unwrap();
        }
    });
    following.assert_gives(0..20_000);
    writer.join().unwrap();
    following.assert_waits();
}

#[test]
fn the_last_ones_and_then_what_comes() {
    let place = Place::new();
    place.write("run.jsonl", header());
    append(&place, "run.jsonl", (0..100).map(cancelled).collect::<String>());
    let following = Following::start(&place, &["timeline", "-f", "--tail", "2", "--json", "run.jsonl"]);
    following.assert_gives([98, 99]);
    append(&place, "run.jsonl", cancelled(100));
    following.assert_gives([100]);
}

#[test]
fn it_ends_when_it_has_given_enough() {
    let place = Place::new();
    place.write("run.jsonl", header());
    let mut following = Following::start(&place, &["follow", "--json", "--limit", "2", "run.jsonl"]);
    append(&place, "run.jsonl", cancelled(1) + &cancelled(2)[..9]);
    following.assert_gives([1]);
    append(&place, "run.jsonl", &cancelled(2)[9..]);
    following.assert_gives([2]);
    assert_eq!(following.child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn it_ends_when_nobody_reads() {
    let place = Place::new();
    place.write("run.jsonl", header());
    // Half a line is no reason to say anything.
    append(&place, "run.jsonl", cancelled(1) + &cancelled(2)[..9]);
    let mut child = place.command(FOLLOW).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::with_capacity(1, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, cancelled(1));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn damage_is_said_and_passed() {
    let place = Place::new();
    place.write("run.jsonl", header());
    let mut following = Following::start(&place, &["follow", "--json", "--limit", "1", "run.jsonl"]);
    append(&place, "run.jsonl", "nonsense\n");
    following.assert_says("run.jsonl:2:1: error: ");
    append(&place, "run.jsonl", cancelled(1));
    following.assert_gives([1]);
    assert_eq!(following.child.wait().unwrap().code(), Some(1));
}

#[test]
fn what_can_not_be_followed() {
    let place = Place::new();
    let run = place.run(["follow", "."]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.starts_with(".:1:1: error: ") || run.stderr.starts_with(".: error: "), "{}", run.stderr);
}

#[test]
fn a_pipe_gives_each_event_at_its_newline() {
    let place = Place::new();
    let mut child =
        place.command(["follow", "--json", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let rows = lines_of(child.stdout.take().unwrap());
    stdin.write_all(&header()).unwrap();
    for id in 0..3 {
        stdin.write_all(cancelled(id).as_bytes()).unwrap();
        assert_eq!(rows.recv_timeout(PATIENCE).unwrap(), cancelled(id).trim_end());
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
